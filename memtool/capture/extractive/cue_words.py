"""Words and phrases by which a sentence shows what it is, a table for each language.

`|` parts phrases, `^` binds one to the start of a sentence. The columns:

* rule: what the user wants to hold from now on
* decision: a choice that was made
* maybe decision: words of choice that need *grounds* (words of use and of reason) beside them
* discovery: what was found out: causes, results
* success: a good end
* stuck: a bad end
* open: what is left to do
* later: what the user puts off
* change: what is different now
* hedge: what is only supposed or proposed
* recommendation: what is advised
* personal: talk between the two
* problem: what a user complains of
* versioning: commits and branches
* housekeeping: prompts that only ask for such chores
* chatter: sentences that carry the talk on
* dangling: beginnings that hang on the sentence before
* request: what a prompt asks for
"""

from __future__ import annotations

PHRASES: dict[str, dict[str, str]] = {
    "en": {
        "rule": """
            we use | we only | we don't use | we do not use | everywhere | ^don't | ^do not | ^never | ^always |
            ^please don't | ^please do not | ^please never | ^please always | ^only use | ^avoid | ^must |
            ^no need to | i prefer | we prefer | i'd prefer | from now on | should always | should never |
            must not | must always | must never | must be | must stay | must have | cannot be changed |
            can't be changed | cannot change | can't change | never use | always use | always run | but don't |
            and don't | but do not | and do not | but never | and never | our convention | we always | we never |
            going forward | remember to | remember that | not allowed | please don't | i don't want |
            we don't want | make sure to | make sure that
        """,
        "decision": """
            decided | decided to | decision is | final decision | design decision | key decision | we'll use |
            we will use | let's use | let's go with | let's keep | let's stick | i'll go with | go with |
            going with | went with | we chose | i chose | chose to | opted for | opted to | settled on |
            agreed on | we agreed | sticking with | stick with | we'll keep | we will keep | we'll go
        """,
        "later": "todo | for later | deferred | postponed | postpone | follow up | later on | some other time",
        "maybe decision": "instead of | rather than | in favor of | in favour of | not worth",
        "grounds": """
            use | using | uses | used | switch | switched | moved | store | stores | stored | keep | keeps |
            kept | go | chose | because | since | replaced
        """,
        "discovery": """
            found it | found the | the delay is | the failure is | turns out | turned out | root cause |
            the reason | the cause | the culprit | the real issue | the real problem | the actual issue |
            the problem is | the problem was | the issue is | the issue was | the bug is | the bug was |
            caused by | because of a | is due to | was due to | it happens because | this happens because |
            the underlying | discovered that | found that | it appears that | key finding | surprisingly
        """,
        "change": "is now | are now | now uses | now use | now returns | now takes | no longer",
        "success": """
            tests pass | tests passed | tests are passing | tests now pass | test suite passes | suite passes |
            suite is green | all green | all pass | all passing | now pass | now passes | now works | works now |
            works as expected | works correctly | works again | build succeeds | build succeeded | build passes |
            builds cleanly | is fixed | are fixed | verified that | is complete | are complete | is done |
            passing
        """,
        "stuck": """
            still fail | still fails | still failing | still broken | wasn't able to | weren't able |
            not able to | couldn't get | could not get | unable to | does not work yet | doesn't work yet
        """,
        "open": """
            todo | todos | fixme | not yet | yet to | left to do | left open | still need | still needs |
            still fail | still fails | still failing | still missing | still to | still open | still unclear |
            still happens | still broken | still flaky | remaining work | remains to | remaining tasks |
            remaining task | next step | next steps | follow up | follow ups | open question | open questions |
            out of scope | haven't | hasn't been | didn't get to | not implemented | not covered | not tested |
            not handled | not addressed | is pending | are pending | still pending | blocked on | blocked by |
            needs to be | need to be | left for later | for later | deferred | postponed | unresolved |
            outstanding | would need | couldn't | could not | unable to | known limitation
        """,
        "hedge": """
            might | maybe | perhaps | possibly | probably | likely | could be | may be | not sure | i think |
            i guess | i suspect | alternatively | consider | option | options | if you | you could | you can |
            you may | would be
        """,
        "recommendation": """
            i recommend | i'd recommend | recommended | recommend | best choice | best fit | best option |
            the trade off | trade offs | bottom line
        """,
        "personal": "i | i'm | i've | i'd | my | me | you | your | you're | you'll | you've",
        "problem": """
            doesn't work | not working | don't work | fails | failing | failed | broken | breaks | crash |
            crashes | error | errors | slow | hangs | stuck | takes | wrong | bug | bugs | issue | missing |
            problem | logged out | no longer | stopped working
        """,
        "versioning": """
            commit | commits | committed | worktree | origin | working tree | branch | branches | pushed
        """,
        "housekeeping": """
            ^commit | ^push | ^merge | ^rebase | ^open a pr | ^create a pr | ^stage | ^squash | ^tag | ^run |
            ^restart | ^rerun
        """,
        "chatter": """
            paste the | send me | share the | let me know | ^i'll | ^i will | ^i'm going to | ^i am going to |
            ^let me | ^let's | ^now let | ^now i | ^now | ^next i | ^next let | ^first | ^first let | ^then i |
            ^great | ^perfect | ^excellent | ^sure | ^okay | ^ok | ^alright | ^understood | ^got it | ^thanks |
            ^thank you | ^sorry | ^i apologize | ^apologies | ^you're right | ^you are right | ^good | ^nice |
            ^looking at | ^looks good | ^i see | ^i can see | ^i understand | ^here's | ^here is | ^here are |
            ^would you like | ^want me | ^shall i | ^should i | ^do you want | ^let me know | ^feel free |
            ^happy to | ^i'd be happy | ^i can | ^just let | ^say the word | ^hope | ^below | ^the following |
            ^time to | ^checking | ^running | ^reading | ^searching | ^let us | ^as you can see | ^as requested |
            ^based on | ^to summarize | ^in summary | ^hi | ^hello | ^hey | ^absolutely | ^of course | ^yes |
            ^no problem | ^wait | ^hmm | ^one moment | ^continuing | ^i'm now | ^i need to | ^i want to |
            ^i should | ^we need to | ^is there anything | ^anything else | ^moving on | ^still running |
            ^my plan | ^the plan | ^my thinking | ^ready to | ^i've analyzed | ^i've reviewed | ^i've examined |
            ^i've read | ^i've looked | ^i have the full | ^i have everything | ^i now have
        """,
        "dangling": """
            ^this | ^that | ^it | ^they | ^these | ^those | ^he | ^she | ^both | ^which | ^so | ^but | ^and |
            ^or | ^also | ^however | ^then | ^otherwise | ^therefore | ^thus | ^same | ^here | ^there | ^such |
            ^either | ^neither | ^the former | ^the latter | ^as above | ^see above | ^hence | ^instead | ^it's |
            ^that's | ^each
        """,
        "request": """
            ^add | ^fix | ^implement | ^create | ^make | ^build | ^write | ^refactor | ^rename | ^update |
            ^upgrade | ^remove | ^delete | ^move | ^change | ^replace | ^convert | ^migrate | ^improve |
            ^optimize | ^speed | ^investigate | ^find | ^debug | ^explain | ^review | ^design | ^set |
            ^configure | ^integrate | ^extract | ^split | ^support | ^port | ^clean | ^document | ^research |
            ^compare | ^evaluate | ^analyze | ^analyse | ^check | ^figure | ^why | ^how | ^what | ^which |
            ^where | ^look | ^use | ^generate | ^reduce | ^handle | ^ensure | ^test | ^deploy | ^publish |
            ^merge | ^rewrite | ^simplify | ^plan | ^propose | ^show | ^prepare | ^translate | i want | i need |
            i'd like | i would like | we need | we want | can you | could you | help me | please | would like to
        """,
    },
    "zh": {
        "rule": """
            不要 | 不准 | 禁止 | 必须 | 务必 | 一律 | 以后都 | 以后要 | 以后不 | 以后别 | 今后 | 记住 | 始终 |
            总是要 | 只能用 | 只用 | 不允许 | 别用 | 别改 | 别再 | 别动 | 不许 | 不得 | 优先用 | 优先使用 |
            我希望都 | 我们约定 | 约定 | 统一用 | 统一使用 | 我喜欢 | 我习惯
        """,
        "decision": """
            决定 | 采用 | 选定 | 选用 | 改用 | 统一用 | 统一使用 | 统一为 | 敲定 | 定为 | 约定 | 方案定 |
            最终方案 | 最终选择 | 沿用 | 就用 | 我们用 | 选择了 | 确定用 | 确定使用 | 确定采用
        """,
        "later": "以后再 | 之后再 | 稍后再 | 留待 | 待办 | 先不做 | 下次再",
        "maybe decision": "而不是 | 而非 | 代替 | 替代 | 取代",
        "grounds": "用 | 采 | 选 | 改 | 因为 | 由于 | 存 | 放",
        "discovery": """
            找到了 | 找到问题 | 找到根因 | 问题很清楚 | 原来是 | 原来 | 根因 | 根本原因 | 原因是 | 原因在于 |
            原因找到 | 问题出在 | 问题在于 | 问题根源 | 发现问题 | 真正的原因 | 真正原因 | 罪魁 | 由于 | 导致 |
            是因为 | 结论
        """,
        "success": """
            测试通过 | 全部通过 | 测试全部 | 均通过 | 都通过 | 通过了 | 全绿 | 构建成功 | 编译通过 | 编译成功 |
            已恢复正常 | 恢复正常 | 验证通过 | 运行正常 | 正常工作 | 已解决 | 已经解决 | 成功了
        """,
        "stuck": "仍然失败 | 仍失败 | 还是失败 | 没能 | 无法解决 | 未能解决 | 还是不行 | 仍然报错",
        "open": """
            待办 | 还没 | 还没有 | 尚未 | 下一步 | 后续 | 遗留 | 未完成 | 有待 | 仍然失败 | 仍失败 | 仍需 | 还需 |
            还需要 | 还差 | 待确认 | 待处理 | 待补 | 未解决 | 未覆盖 | 暂未 | 暂不 | 暂时没 | 之后再 | 以后再 |
            稍后再 | 留待 | 剩下 | TODO | todo
        """,
        "hedge": """
            可能 | 也许 | 或许 | 大概 | 似乎 | 应该是 | 猜测 | 怀疑 | 如果你 | 如果您 | 可以考虑 | 建议 | 也可以 |
            或者
        """,
        "recommendation": "推荐 | 建议采用 | 最合适 | 首选 | 综合来看 | 综上 | 结论",
        "personal": "你 | 您 | 我",
        "problem": """
            报错 | 失败 | 打不开 | 不能用 | 不行 | 错误 | 崩溃 | 闪退 | 卡住 | 很慢 | 太慢 | 没反应 | 连不上 |
            不显示 | 问题 | 异常
        """,
        "housekeeping": "^提交 | ^推送 | ^合并 | ^重启 | ^跑一下",
        "chatter": """
            贴给我 | 发给我 | 告诉我 | ^好的 | ^好， | ^好！ | ^好。 | ^让我 | ^我来 | ^我先 | ^我会 | ^我将 |
            ^我再 | ^我去 | ^我需要 | ^我现在 | ^我要 | ^我看 | ^现在 | ^接下来 | ^首先 | ^然后 | ^没问题 |
            ^明白 | ^收到 | ^了解 | ^您好 | ^你好 | ^如需 | ^如果你 | ^如果您 | ^需要我 | ^请 | ^希望 | ^谢谢 |
            ^感谢 | ^抱歉 | ^对不起 | ^以下 | ^下面 | ^太好了 | ^很好 | ^当然 | ^是的 | ^没错 | ^先 | ^继续 |
            ^等待 | ^稍等 | ^正在 | ^开始 | ^完成。 | ^完成！ | ^搞定 | ^完美 | ^不客气 | ^确认一下 | ^看一下 |
            ^看看 | ^检查一下 | ^查看 | ^要不要 | ^是否需要 | ^你可以 | ^您可以
        """,
        "dangling": """
            ^这 | ^那 | ^它 | ^此 | ^其 | ^因此 | ^所以 | ^但 | ^而且 | ^而 | ^另外 | ^不过 | ^于是 | ^同时 |
            ^并且 | ^否则 | ^上述 | ^以上 | ^该 | ^同样 | ^两者 | ^都 | ^也 | ^还有 | ^如上 | ^即
        """,
        "request": """
            帮我 | 帮忙 | 我想 | 我要 | 我需要 | 需要 | 请 | 能不能 | 能否 | 可以 | 如何 | 怎么 | 怎样 | 为什么 |
            为何 | 实现 | 修复 | 修改 | 添加 | 增加 | 新增 | 优化 | 重构 | 排查 | 分析 | 写 | 做 | 改 | 检查 |
            设计 | 部署 | 升级 | 迁移 | 解释 | 调研 | 对比 | 解决 | 支持 | 把 | 将 | 给
        """,
    },
    "ja": {
        "problem": """
            エラー | 失敗 | 動かない | 落ちる | 遅い | できない | ヒットしない | 表示されない | 不具合 | バグ
        """,
        "rule": """
            しないで | してはいけない | 必ず | 常に | 今後は | 使わないで | 禁止 | べきではない | 変えないで |
            ないでください
        """,
        "decision": "にしました | を採用 | に決め | に決定 | ことにし | 方針 | 使うことにする",
        "maybe decision": "ではなく | 代わりに",
        "grounds": "使 | 採用 | ため | ので | 保存",
        "discovery": "原因は | 根本原因 | わかりました | 判明 | のが原因 | ことが原因",
        "success": """
            テストが通り | テストはすべて | すべて通過 | パスしました | 成功しました | 解決しました |
            動作するようになり | 確認しました
        """,
        "open": """
            未対応 | 未実装 | 残っています | 残タスク | 今後の | 次のステップ | まだ | 今後対応 | 未解決
        """,
        "hedge": "かもしれ | 可能性 | と思います | でしょう | おそらく",
        "chatter": """
            ^了解 | ^承知 | ^はい | ^では | ^それでは | ^まず | ^次に | ^確認します | ^見てみ | ^ありがとう |
            ^すみません | ^申し訳 | ^以下 | ^もちろん | ^調べます | ^調査します
        """,
        "dangling": """
            ^これ | ^それ | ^その | ^この | ^あれ | ^また | ^しかし | ^そのため | ^なお | ^ただし | ^つまり
        """,
        "request": """
            してください | したい | お願い | ほしい | 欲しい | 教えて | なぜ | どう | 追加して | 修正して |
            直して | 作って | 調べて | 実装して
        """,
    },
    "ko": {
        "problem": "오류 | 에러 | 실패 | 안 됩니다 | 안 돼 | 느려 | 버그 | 문제",
        "rule": "하지 마 | 하지마 | 반드시 | 항상 | 앞으로는 | 절대 | 금지 | 쓰지 마 | 말아",
        "decision": "하기로 | 채택 | 결정 | 사용하기로 | 로 바꾸기로",
        "maybe decision": "대신",
        "grounds": "사용 | 때문 | 쓰",
        "discovery": "원인은 | 근본 원인 | 원인이 | 알고 보니 | 때문이었",
        "success": """
            테스트 통과 | 모두 통과 | 테스트가 통과 | 성공했 | 해결했 | 해결됐 | 정상 작동 | 정상 동작
        """,
        "open": "아직 | 남은 작업 | 다음 단계 | 미구현 | 미해결 | 추후 | 나중에 | 보류",
        "hedge": "수도 있 | 아마 | 것 같 | 가능성",
        "chatter": """
            ^알겠습니다 | ^네, | ^먼저 | ^이제 | ^확인해 | ^살펴보 | ^감사합니다 | ^죄송 | ^다음은 | ^물론 |
            ^좋습니다
        """,
        "dangling": "^이것 | ^그것 | ^이는 | ^그리고 | ^하지만 | ^그래서 | ^또한 | ^따라서",
        "request": """
            해줘 | 해 줘 | 주세요 | 하고 싶 | 부탁 | 왜 | 어떻게 | 추가해 | 수정해 | 고쳐 | 만들어
        """,
    },
    "de": {
        "problem": """
            schlägt fehl | schlagen | fehler | funktioniert nicht | geht nicht | kaputt | langsam | absturz |
            fehlgeschlagen
        """,
        "rule": """
            niemals | auf keinen fall | bitte nicht | ab jetzt | ab sofort | immer | nicht verwenden |
            keine mocks
        """,
        "decision": """
            entschieden | wir nehmen | wir verwenden | wir nutzen | wir bleiben bei | fiel auf
        """,
        "maybe decision": "statt | anstatt | anstelle",
        "grounds": "verwenden | nutzen | nehmen | weil | speichern",
        "discovery": """
            die ursache | ursache war | ursache ist | der grund | grund war | grund dafür | stellte sich heraus |
            stellt sich heraus | liegt daran | lag daran
        """,
        "success": """
            tests laufen | tests sind grün | alle tests | funktioniert jetzt | funktioniert wieder | behoben |
            erledigt
        """,
        "open": """
            noch nicht | steht noch aus | noch offen | nächster schritt | nächste schritte | offen bleibt |
            fehlt noch
        """,
        "hedge": "vielleicht | möglicherweise | wahrscheinlich | könnte | vermutlich",
        "chatter": """
            ^ich schaue | ^ich werde | ^lass mich | ^gerne | ^klar | ^alles klar | ^okay | ^jetzt | ^zuerst |
            ^danke | ^hier ist | ^hier sind | ^perfekt | ^super
        """,
        "dangling": """
            ^das | ^dies | ^diese | ^dieser | ^es | ^sie | ^daher | ^deshalb | ^aber | ^und | ^außerdem |
            ^allerdings
        """,
        "request": """
            bitte | ich möchte | ich will | ich brauche | kannst du | könntest du | wie | warum | wieso
        """,
    },
    "fr": {
        "problem": """
            ne fonctionne pas | ne marche pas | erreur | échoue | échouent | lent | plante | bogue
        """,
        "rule": """
            jamais | toujours | désormais | à partir de maintenant | n'utilise pas | ne pas | il ne faut pas
        """,
        "decision": "décidé | on utilise | on va utiliser | nous utilisons | on garde | choisi",
        "maybe decision": "plutôt que | au lieu de",
        "grounds": "utiliser | utilise | garder | car | parce",
        "discovery": """
            la cause | cause racine | la raison | le problème vient | le problème venait | s'avère | à cause
        """,
        "success": "tests passent | fonctionne maintenant | est corrigé | est résolu | build réussi",
        "open": """
            pas encore | reste à | il reste | prochaine étape | prochaines étapes | à faire | en suspens
        """,
        "hedge": "peut être | probablement | pourrait | sans doute",
        "chatter": """
            ^je vais | ^laissez moi | ^voici | ^d'accord | ^bien sûr | ^merci | ^maintenant | ^parfait |
            ^d'abord | ^regardons
        """,
        "dangling": """
            ^cela | ^ça | ^ce | ^c'est | ^il | ^elle | ^ils | ^donc | ^mais | ^et | ^ainsi | ^cependant
        """,
        "request": """
            je veux | je voudrais | j'aimerais | peux tu | pouvez vous | pourquoi | comment | s'il te plaît |
            ajoute | corrige | crée
        """,
    },
    "es": {
        "problem": "no funciona | error | falla | fallan | lento | se rompe | fallo",
        "rule": """
            nunca | siempre | a partir de ahora | no uses | no utilices | de ahora en adelante | no quiero
        """,
        "decision": "decidimos | decidido | usaremos | vamos a usar | nos quedamos con | elegimos",
        "maybe decision": "en lugar de | en vez de",
        "grounds": "usar | usamos | porque | guardar",
        "discovery": """
            la causa | causa raíz | el motivo | la razón | el problema era | el problema es | resulta que |
            se debía
        """,
        "success": """
            pruebas pasan | tests pasan | funciona ahora | ya funciona | está corregido | resuelto
        """,
        "open": """
            todavía no | aún no | queda pendiente | pendiente | pendientes | falta | próximo paso |
            próximos pasos
        """,
        "hedge": "quizás | tal vez | probablemente | podría | posiblemente",
        "chatter": """
            ^voy a | ^déjame | ^aquí | ^claro | ^gracias | ^ahora | ^primero | ^perfecto | ^entendido |
            ^vamos a ver
        """,
        "dangling": """
            ^esto | ^eso | ^este | ^esta | ^ello | ^por eso | ^pero | ^y | ^además | ^sin embargo
        """,
        "request": """
            quiero | necesito | puedes | podrías | por favor | cómo | por qué | añade | agrega | corrige | crea
        """,
    },
}

# Verbs of what was done. Those between spaces count at the start, or after "I've", "was", "now" and the like.
DEEDS: dict[str, dict[str, str]] = {
    "spaced": {
        "fix": """
            fixed | resolved | solved | corrected | repaired | patched | behoben | korrigiert | corrigé | résolu |
            corregido | arreglado | solucionado
        """,
        "feature": """
            added | implemented | created | built | introduced | wrote | supports | adds | implements |
            hinzugefügt | implementiert | ajouté | créé | implémenté | añadido | implementado | creado |
            agregado
        """,
        "refactor": """
            refactored | extracted | renamed | split | simplified | consolidated | deduplicated | restructured |
            reorganized | moved | umgebaut | refactorisé | refactorizado
        """,
        "change": """
            updated | changed | removed | deleted | replaced | bumped | upgraded | migrated | converted |
            configured | disabled | enabled | committed | pushed | merged | deployed | released | published |
            switched | reverted | rewrote | rewritten | tightened | limited | capped | dropped | pinned |
            reduced | cleaned | ported | installed | documented | translated | registered | imported | optimized |
            completed | verified | finished
        """,
    },
    "unspaced": {
        "fix": """
            修复了 | 已修复 | 修正了 | 已修正 | 修好了 | 解决了 | 已解决 | 修正しました | 修正済 | 直しました |
            解決しました | 수정했 | 고쳤 | 해결했
        """,
        "feature": """
            新增 | 已实现 | 实现了 | 已添加 | 添加了 | 增加了 | 已增加 | 创建了 | 已创建 | 加上了 | 支持了 |
            追加しました | 実装しました | 作成しました | 추가했 | 구현했 | 만들었 | 생성했
        """,
        "refactor": """
            重构了 | 已重构 | 抽取 | 抽出 | 拆分 | 重命名 | 合并为 | 提取为 | 提取到 | リファクタ | 分割しました |
            切り出し | 리팩터 | 리팩토 | 분리했
        """,
        "change": """
            迁移完成 | 修复完成 | 重构完成 | 开发完成 | 改造完成 | 修改完成 | 部署完成 | 已更新 | 更新了 |
            已修改 | 修改了 | 改为 | 改成 | 删除了 | 已删除 | 移除了 | 已移除 | 替换为 | 替换成 | 升级到 |
            迁移到 | 已迁移 | 移动到 | 已完成 | 完成了 | 已部署 | 已提交 | 已合并 | 已推送 | 変更しました |
            更新しました | 削除しました | 변경했 | 업데이트했 | 삭제했 | 완료했
        """,
    },
}
AUXILIARIES = frozenset(
    """
        a also and are been est ha habe had han has have he i i've is ist it j'ai just now se sido sind sont
        successfully then was we we've were wurde wurden été
    """.split()
)

# Under a heading with such words, a list says what the words announce. The first row that fits counts.
HEADINGS: dict[str, str] = {
    "open": """
        next steps | next step | todo | todos | remaining | what's left | whats left | left to do | follow up |
        follow ups | open questions | open items | open | outstanding | known issues | known limitations |
        limitations | caveats | not done | pending | not yet | still open | future work | pending tasks | later |
        待办 | 下一步 | 后续 | 遗留 | 未完成 | 尚未 | 待处理 | 待确认 | 剩余 | 已知问题 | 接下来 | 残タスク |
        今後 | 次のステップ | 未対応 | 다음 단계 | 남은 작업 | nächste schritte | offen | prochaines étapes |
        reste à faire | próximos pasos | pendiente | pendientes
    """,
    "decision": """
        decision | decisions | design decisions | key decisions | decided | agreed | conventions | 决定 | 决策 |
        设计决策 | 约定 | 结论与决定 | 決定 | 方針 | 결정 | entscheidungen | décisions | decisiones
    """,
    "discovery": """
        root cause | root causes | cause | findings | key findings | finding | diagnosis | analysis | why |
        what happened | what i found | the problem | problem | conclusion | conclusions | results | 根因 |
        根本原因 | 原因 | 问题根因 | 发现 | 诊断 | 诊断结果 | 分析 | 结论 | 问题 | 调研结论 | 原因分析 |
        調査結果 | 결과 | 원인 | ursache | causa | hallazgos
    """,
    "fix": """
        fix | fixes | fixed | bug fixes | the fix | what i fixed | solution | 修复 | 修复内容 | 解决方案 |
        解决办法 | 修正 | 修正内容 | 対応内容 | 対応済み | 해결
    """,
    "change": """
        changes | what changed | changes made | key changes | summary of changes | what i changed | what i did |
        what was done | done | completed | summary | implemented | implementation | 完成 | 已完成 | 改动 | 修改 |
        变更 | 主要改动 | 主要变更 | 修改内容 | 实现 | 总结 | 本次修改 | 完了 | 変更点 | 変更内容 | 変更 | 実装 |
        변경 | 완료 | änderungen | changements | cambios
    """,
    "refactor": "refactoring | 重构",
    "options": """
        対応案 | 対応方法 | option | options | alternatives | approach | approaches | usage | how to use |
        how to run | commands | example | examples | 方案 | 选项 | 用法 | 使用方式 | 使用方法 | 示例 | 命令 |
        启动命令 | 排查步骤 | plan | 计划 | 手順 | 使い方 | steps to reproduce | how to test | testing |
        verification | verify | 验证 | 测试 | files | files changed | files modified | 修改的文件 | 文件
    """,
}

# Words before a phrase that turn it round ("nothing left to do", "will be added", "待修复"), and a few behind it.
DENIALS = frozenset(
    "any aucun cannot kein keine never nicht ninguna ningún no none not nothing pas sin without zero".split()
)
UNDONE = frozenset("after be being get if never not once to until werde werden when".split())
UNSPACED_DENIALS = "没无不零"
UNSPACED_UNDONE = "没未无不待需要将会可应再能请"
DENIALS_AFTER = ("ありません", "なし", "ないです", "없습니다", "없음", "没有了", "已完成", "都完成")

# What only carries the talk on.
SMALL_TALK = frozenset(
    """
        a again ahead all alright also and awesome bitte bye check cheers claro clean commit continue continuez
        continúa cool d'accord danke day de do done el exactly fine fix for gerne get go going good goodbye
        gracias great gut hallo have hello help hey hi hmm hola how i i'll i'm it ja job keep let's lgtm look
        looks love mach make me merci more morning n nein nice night no non now of ok okay on oui para perfect
        pero please proceed push resume retry right run si sigue so sounds start stop super sure sí ten test
        tests thank thanks that that's the then thing this thx today todo try ty undo up vale very wait weiter
        well what what's wow y yeah yep yes you you're ça
    """.split()
)
UNSPACED_SMALL_TALK = """
    继续 | 好的? | 好了 | 可以了? | 是的? | 对 | 嗯 | 行 | 谢谢你? | 感谢 | 多谢 | 你好 | 您好 | 在吗 | 开始 |
    提交 | 推送 | 下一步 | 请 | 吧 | 了 | 啊 | 呢 | 吗 | 呀 | 哦 | 帮我 | 看看 | 看下 | 一下 | 再 | 试试? | 重试 |
    不错 | 很好 | 没问题 | 收到 | 辛苦 | 修复? | 运行 | 测试 | 这个 | 解决 | はい | いいえ | 続けて | 続き |
    ください | お願いします | ありがとう(?:ございます)? | こんにちは | 次 | 進めて | 了解(?:です)? | 네 | 아니요 |
    계속 | 해줘 | 감사합니다 | 안녕하세요 | 좋아요? | 고마워
"""

# Letters that differ in the traditional script, so that one table serves both.
TRADITIONAL = str.maketrans(
    "決選統約採實現發問題錯誤還沒須務後這讓來會測試過個為舊結論導總終優習許讀寫將給與當並應該請幫補號碼壞"
    "變換遺續驗證編譯復構驟無階確認檢從動報單雙產擴創刪擇執進開關對話間記憶處貼閃顯連啟",
    "决选统约采实现发问题错误还没须务后这让来会测试过个为旧结论导总终优习许读写将给与当并应该请帮补号码坏"
    "变换遗续验证编译复构骤无阶确认检从动报单双产扩创删择执进开关对话间记忆处贴闪显连启",
)
