"""Words that tell little of what a prompt is about, however rare they are in a vault.

In a small vault `tests` may stand in one note only, and yet "run the tests" asks for no memory.
"""

from __future__ import annotations

from typing import NamedTuple

from memtool.recall.prompts.word_list import WordList


class Kind(NamedTuple):
    """What a sort of words weighs: *tells* if a memory shares one of them, *about* in what a prompt is about."""

    tells: float
    about: float


TELLING = Kind(1.0, 1.0)
FAMILIAR = Kind(0.4, 0.5)  # names that everybody knows
EVERYDAY = Kind(0.2, 0.5)  # what prompts and notes use without being about it
COMMON = Kind(0.6, 0.15)  # what prompts hold whatever they are about; shared, it still says something

# In every second prompt of a developer.
_DEVELOPERS = WordList("""
not may ability able above accept access according account achieve action active actual actually add addition additional
adjust after again against age ago agree ahead allow almost alone along already alright although always among amount
analyse analysis analyze another answer anybody anymore anyone anything anyway apart app appear application apply
approach appropriate area argument around array ask aspect assume async attach attempt attention automatic available
avoid await away awesome back bad base basic basically become before begin behave behavior behaviour behind believe
below benefit best better between big bit block body book bool boolean both bottom boundary box branch break brief
briefly bring broken browser bug build built business busy button buy call came care carefully case catch cause center
centre certain chance change character chat check choice choose class clean cleanup clear click client close cmd code
codebase color colour column combine come command comment commit common company compare comparison compile complete
complex component computer concept concern concise condition config configuration configure confirm confuse connect
connection consider consistent console constant contain content context continue contribute control convert cool copy
core correct cost count couple course cover coverage crash create creation current currently custom cut data database
date day deal debug decide decision deep default define definition delete department depend dependency deploy
deployment depth describe description design desire detail detect determine dev develop developer development device
diff differ difference different difficult dir direct direction directory discuss display doc document documentation
docs domain done doubt down download draft drop due duplicate during each earlier early easily easy edge edit effect
effective efficient effort either element else email empty enable end endpoint english enough ensure enter entire
entry env environment equal error especially etc even event ever every everybody everyone everything everywhere
evidence exact exactly example excellent except exception exclude execute exist expect expected experience expert
explain explanation explore export express extend extra extract face fact fail failed failure fair fall false family
familiar far fast feature feedback feel few field figure file fill filter final finally find fine finish first fit fix
flag flow focus folder follow following food font force forget form format forward found frame framework free frequent
friend front full fully func function functional functionality further future game gave general generate generic get
git give given glad global go goal gone good got grammar great green group grow guess guide half hand handle handler
happen happy hard head header health heard height hello help helper helpful hey hi high highlight history hit hold
home hope hot hour house http https huge human hundred idea ideal identify image imagine implement implementation
import important improve improvement include incorrect increase indeed index info inform information initial inline
input insert inside install instance instead instruction int integer interest interesting interface internal into
introduce introduction investigate involve issue item job join json just keep key kind know knowledge known lack
language large last late lately later latest layout lead learn least leave left length less let level library life
light like likely limit line link lint linter list little live load local location lock log logic long longer look
loop lost lot love low lower machine made main maintain major make makes making man manage manager manual map mark
master match matter maybe mean meaning means meet member memory mention menu merge message met method middle might
mind minimal minor minute miss missing mistake mock mode model modern modify module moment money month more morning
most mostly move much multiple must name native near nearly necessary need needs negative nested never new next nice
night no nobody node none normal note nothing notice null number object obvious off offer office official often oh ok
okay old once one online only open operation operator opinion optimal optimise optimize option optional order organise
organize original other otherwise out output outside over overall overview own package page paper paragraph param
parameter parent parse part particular pass past paste path pattern pay people per perfect perform performance perhaps
permission person phone photo php pick piece place plain plan play please plus point poor popular position positive
possible possibly post potential power practice pre prefer prepare present press pretty prevent previous previously
primary print prior private pro probably problem proceed process produce product program programming progress project
proper properly property propose provide public pull pure purpose push put python quality query question quick quickly
quiet quite quote raise random range rather raw reach react read reader ready real really reason recent recently
recommend record red reduce redundant refactor refer reference regard related relation release relevant remain
remember remind remote remove rename render repeat replace reply repo report repository represent request require
requirement resolve resource respect respond response rest result return review rewrite right role room root rough row
rule run runtime safe said sample save say says scale scan scenario school scope screen script search second section
see seem seen select send sense sentence separate sequence series serious serve server service session set setting
settings setup several shall shape share shell short shorter shot show side sign signature similar simple simpler
simplify simply simulate since single sit site situation size skip slow slower small smart so software solution solve
somebody somehow someone something sometimes somewhere soon sorry sort sound source space speak spec special specific
speed spell spend split stack staff stand standard start state statement static status stay step still stop
store story straight strange street string strong structure student stuff style subject submit success such sudden
suggest suggestion suitable summarise summarize summary super support suppose sure switch symbol syntax system tab
table tag take talk target task teach team tech technical technique technology tell temp template term terminal test
tests text thank thanks theme thing think third thorough though thought thousand thread three through throw thus tidy
till time times tiny tip title today together told tomorrow tonight too took tool top topic total totally touch toward
track trade train translate translation travel treat tree tried trouble true truly trust truth try turn tutorial two
txt type typical typo ugly unclear under understand unexpected unit unless until unused up update upgrade upload upon
url usage use used useful user usual usually valid validate validation value variable various version very via view
void wait walk want warn warning watch water way web website week weird well went whatever whenever wherever whether
white whole wide width window wish within without wonder word work workflow working world worry worse worst worth wrap
write writing written wrong yeah year yep yes yesterday yet young alter asc desc distinct from having offset union
values where varchar args bash cat cd css csv def echo elif endif enum fn grep html ide impl init js kwargs ls md npm
nil pip println py rm rs sh sql stderr stdin stdout struct sudo todo ts tsx var xml yaml yml id ids uid utf utf8 utf-8
ascii unicode don doesn isn won didn wasn couldn shouldn wouldn ll ve gonna wanna gotta lets four five six seven eight
nine ten 0 1 2 3 4 5 6 7 8 9 10 100 hint hints toggle logging logger modal dropdown scroll hover bold italic padding
margin pixel keyboard classes methods sync callback sidebar navbar footer
""")

_EVERYDAY = WordList("""
poem haiku joke recipe weather all accident accidental acquire adapt admit adopt advance advantage affect afford
afternoon aid aim alive alternative amaze ancient angle announce annoy anyhow apologize apparent appreciate arrange
arrive art aside assign assist associate assumption attached audience aware awful badly barely basis beautiful beauty
bed beg begun belong beneath beside besides beyond bird bite bless blind blow boat boil bone bore born borrow boss
bother bowl boy brain brand brave bread breakfast breath breathe bright brilliant brother brown cake calm camp capable
cap captain car career carry cast category celebrate centimeter century chain chair challenge chapter charge charm
cheap cheaper chest chief child children chocolate church circle citizen city claim clever climb clock cloth clothes
coast coat coffee cold collar collect college combination comfort commercial commonly communicate community compete
complain concert conclude conclusion concrete conflict contact contest contrast conversation convince cook corner
cough council country countryside courage cousin cream creature credit crew crime critical cross crowd crucial cry
culture cup curious curtain curve cute cycle dad damage dance danger dangerous dare dark daughter dead dealt dear
death debate debt decade decent declare decrease definitely degree deliver delight demand deny depart deserve desk
despite dessert destroy destination dialogue diary die diet dig dinner dirty disagree disappear disappoint discover
disease dish distance divide doctor dog dollar door dot dozen drag drama dramatic draw dream dress drink drive driver
dry dull dust duty eager ear earn earth ease east eat economy egg elder elegant elementary eliminate elsewhere
embarrass emerge emotion emphasize employ employee encounter encourage enemy energy engage engine enjoy enormous
entertain equally escape essay essential establish estimate eve evening eventual everyday evil exam examine excite
excited excuse executive exercise exhaustive exit expand expense expensive expose extent extreme eye faint faith
famous fan fancy fantastic farm farmer fashion fasten fat father fault favor favorite favourite fear fellow festival
fetch fever fight finger fire fish fishing flat flight float flood floor flower fly fold folk fool foot football
foreign forest forever forgive formal fortunate forth fortune forty forum freedom fresh fridge frighten fruit fun fund
funny furniture gain gap garden gas gather gentle gentleman geography gift girl glance glass goodbye govern government
grab grade gradual grain grand grandfather grandmother grass grateful gray greet ground guard guest guilty guitar gun
guy gym habit hair hall hang happiness harm hat hate heal hear heart heat heaven heavy heel hence hero hesitate hide
hill hire historical hobby hole holiday homework honest honey honor hopefully horrible horse hospital host hotel
household housing however hunger hungry hunt hurry hurt husband ice ignore ill illegal illness imply impossible
impress impression inch incident increasing independent indicate individual industry inevitable influence injure inner
innocent inspire instant intelligent intend intense intention interview invent invite iron island jacket jam jealous
jewel joint journal journey joy judge jump junior jury justice kick kid kill kilometer king kiss kitchen knee knife
knock lady lake land laptop laugh laundry law lawyer lay lazy leader leaf lean leather lecture lend lesson letter
liberty lid lie lift lip liquid listen literature logo lonely loose lord lorry loud lovely luck lucky lunch mad
magazine magic mail male mall manner marry married mask mass massive math mathematics meal meat media medical medicine
melt mental mere metal mild milk million mine minister mirror miserable mistaken mobile mom mood moon moreover mother
motion motor mountain mouse mouth movie museum music musical mutual mystery nail narrow nation national natural nature
neat neck neighbor neither nerve nervous net news newspaper noise noon nor north nose notable novel nowadays nowhere
nurse obey observe obtain occasion occasionally occupy occur ocean odd officer oil onto opportunity oppose opposite
orange ordinary organ origin ought ourselves owe pack pain paint painting pair palace pale pan pants parade park
participate partly partner party passage passenger passion passport patient pause peace pen pencil percent permanent
permit personal personality persuade pet phrase physical piano picture pie pig pile pink pity pizza plant plastic
plate platform pleasant pleasure plenty pocket poet poetry police policeman polite political politics pollution pool
population portion pot pound pour praise pray precious precise precisely preference presence president presumably
pretend prevention pride priest prince prison privacy prize probable profession professional profit promise promote
proof protect protest proud prove punish pupil purchase purple pursue puzzle quarter queen quit rabbit race rare
rarely reality realise realize reasonable recognise recognize reduction reflect regardless regret regular relate
relative relax relief religion rely remark remarkable rent repair reputation rescue research resist respectively
responsible restaurant retire reveal reverse reward rewrote rice rich rid ride rise risk river road rob rock rode roof
rope rose round royal rub rude ruin rural rush sad sadly sail salt sand sandwich satisfaction satisfies satisfy
satisfying saw scare scary scene scholar science scientific scientist scream sea seat secretary secure seed seek
seldom selection self sell senior sensible sensitive separately settle shade shadow shake shame sharp sheep shine
shirt shock shoe shoot shop shore shoulder shout shower shut shy sick sight silence silent silly silver sing singer
sink sir sister sixth skill skin sky sleep slide slight slightly smell smile smoke smooth snake social society sock
soft soil soldier solid somewhat son song sore soul soup south spare speaker specialist speech spirit spite splendid
spoke spoken spoon sport spot spread spring square stable stair star stare starve station steal steam steel steep
stick stiff stomach stone storm stove straightforward strain strategy strength stress stretch strict strike strip
stroke struggle stupid substance substitute suburb succeed suffer sufficient sugar suit suitcase sum summer sun sunny
supply surface surely surprise surround survey survive suspect swallow swear sweat sweet swim swing sympathy tail
talent tall tank tap taste taxi tea teacher tear telephone television temper temporary tend tendency tennis terrible
terrific territory theatre thick thief thin thirty threat threaten throat thumb thunder tie tight tired tissue tone
tongue tooth tourist towards towel tower town toy tradition traditional tragedy trap trash trend trial trick trip
truthful tube turkey tv twelve twenty twice twin twist typing uncle undergo underneath unfortunately uniform unique
unite universe university unknown unlike unusual upper upset upstairs urban urge urgent useless vacation valley
valuable vary vast vegetable verb victim victory village violent virtue visible visit visitor vital voice voluntary
wake wall war warm wash waste weak weakness wealth weapon wear wedding weekend weigh welcome west wet whereas whisper
whoever widely wife wild willing win wine wing winner wise wonderful wood wooden wool worldwide worn wound yard yell
yellow yours youth zero zoo not autumn leaves legs spider
""")

# Articles, pronouns, prepositions and the like of other languages than English: they are not
# looked at. Folded, so that they need not be folded each time.
_FUNCTION_WORDS = WordList("""
aan aber aby agli ai al albo ale algo algunas algunos alla alle allem allen aller alles allo als also altijd am ama an
ancak anche ander andere anderem anderen anderer anderes ante antes ao aos aquela aquele ar as asi ate att au auch auf
aus aussi aux av avec aven avoir bana bardzo bazı bei beide beim belki ben beni benim bez bien bij bin bir biri birkac
birsey bis bist bitte biz bize bo bu buna bunda bunu by byc był była było ce ces cet cette chce che chi ci cie co col
com come comme como con contra cosa cual cuando cui czy da daar daha dai dal dalla damit dan danke dann dans dar das
dass dasselbe dat dazu de defa dei dein deine deja del della delle dello dem den denn denna depois der derer des desde
dessen det detta deze di dich die dies diese diesem diesen dieser dieses dig din dir dit diye dla do doch doen donc
donde door dort dos dove du durante durch dus e ed een eens efter eigentlich ein eine einem einen einer eines einig
einige einmal ej el ela elas ele eles ella ellas elle eller elles ellos em en encore entre er era es esa ese eso essa
esse essere est esta estan estas este esto estos et etait ete etre ett etwas eu euch euer eure faire fait fare faut
favor fazer foi for fran fue fur ganz gdy gdzie ge geen gegen geht gerade geweest gewesen gibi gibt gli go gracias
grazie ha haar hab habe haben hace hacer had hade hai han hanno har hasta hat hatte hatten hay heb hebben heeft hem
hep hepsi her het hic hier hij hin hinter ho hoe hon hun ich ici icin icke iemand iets ihm ihn ihnen ihr ihre ik il
ile ils im immer in indem ingen inom ins inte io is ise isso ist isto ja jag jak jako je jede jedem jeden jeder jedes
jego jej jene jest jestem jeszcze jetzt ju juz kan kann kannst kazdy kein keine keinen kez ki kiedy kim kon konnen
konnte kto ktora ktore ktory kunde kunnen la las le lei les leur leurs lhe li lo loro los lui lutfen ma maar mach
mache machen mais mal mam man manche mas me med meer mein meine mellan men merci mes mesmo met meu mi mia mich mig mij
mijn min minha mio mir mis mit mnie moet moi moj moje mon mot moze mu mucho muito muss musste muy mycket mı na naar
nach nad nada nagon nagot nam nao nar nas nasıl ne neden negli nei nein nel nella nem nerede ni nicht nichts nie niet
niets nim niye niz no noch nog noi non nos nosotros nostra nostro notre nous nu nuestra nuestro num numa nun nur o ob
obrigado och od oder of ohne olan olarak om omdat on ona one oni onlar ons onu ook op oraz os oss otra otro ou over pa
par para pas pela pelo per perche pero peut peux piu plus po poco pod pode por porque pour prosze przed przez przy
puede puedes puis puoi qu quais qual quale quando quanto que quel quella quelle quelles quelli quello quels quem
questa queste questi questo qui quien quoi reeds sa samma sanki sans sao schon se sea sedan sehr sei sein seine seit
selbst sem ser sera ses seu seus sey si sia siamo sich sie sig sin sind siz ska skad skulle so sobre solche soll
sollte som son sondern sono sonst sont sta su sua suas sue sul sulla suo sur sus ta tak tam tambem tambien tanto te
tegen tego tem ten tengo tes tez ti tiene till tinha to toch todo todos toen toi ton tot tra tres tu tua tum tuo tus
tutti tutto ty tylko uber uit um uma un una und under une uno unos uns unser unsere unter upp usted ut utan uw vad van
var vara varfor ve veel veya vi vid vilken voce voces voi vom von voor vor vos votre vous w wahrend want war waren
warum was wat we weg weil weiter wel welche welchem welchen welcher welches wenn werd werde werden wezen wie wiec
wieder wij wil will wir wird wirst wo wollen worden wurde wurden ya yani yo yok z za zal ze zeby zei zelf zich zij
zijn zo zonder zou zu zum zur zwar zwischen а без более больше будет будто бы был была были было быть в вам вас вдруг
ведь во вот впрочем все всегда всего всех всю вы где да даже два для до другои его ее еи ему если есть еще ж же за
зачем здесь и из или им иногда их к как какая какои когда конечно кто куда ли лучше между меня мне много может можно
мои моя мы на над надо наконец нас не него нее неи нельзя нет ни нибудь никогда ним них ничего но ну о об один он она
они опять от перед по под пожалуиста после потом потому почему почти при про раз разве с сам свою себе себя сеичас со
совсем спасибо так такои там тебя тем теперь то тогда того тоже только том тот три тут ты у уж уже хорошо хоть чего
чем через что чтоб чтобы чуть эти этого этои этом этот эту я
""")

# Chinese, Japanese and Korean are matched by pairs of characters.
_COMMON_PAIRS = frozenset(
    """
这个 这些 这里 这样 这种 那个 那些 那里 那样 那么 这么 一个 一些 一下 一样 一种 一直 一起 一点 一次 一遍 两个 三个
几个 每个 各个 某个 整个 哪个 什么 怎么 怎样 如何 为何 是否 能否 可否 多少 请问 请帮 帮我 帮忙 给我 让我 告诉 我想
我要 我们 你们 他们 它们 大家 自己 别人 看看 看下 看一 试试 试一 想想 说说 讲讲 讲一 说一 写一 写个 做一 做个 改一
改成 加一 加个 来个 找一 查一 查下 查看 介绍 解释 说明 描述 总结 概括 分析 比较 对比 区别 不同 相同 一致 可以 能够
应该 应当 需要 必须 可能 也许 大概 已经 正在 刚才 刚刚 现在 目前 当前 今天 明天 昨天 之前 之后 以前 以后 以上 以下
上面 下面 前面 后面 里面 外面 其中 其他 其它 另外 然后 接着 最后 首先 其次 开始 结束 继续 完成 停止 暂停 取消 确认
确定 同意 好的 可行 不行 不要 不用 不能 不会 不是 不对 不到 不了 没有 没用 没法 还有 还是 或者 而且 并且 但是 不过
因为 所以 如果 假如 虽然 只是 只有 只要 就是 就行 都是 也是 有没 有点 有些 很多 许多 非常 特别 更加 更好 最好 最新
最近 全部 所有 任何 代码 程序 函数 方法 变量 参数 返回 类型 对象 数组 字符 符串 文件 目录 路径 文档 文本 内容 注释
格式 结构 逻辑 功能 特性 模块 组件 接口 项目 工程 仓库 分支 版本 提交 合并 推送 拉取 请求 响应 运行 执行 启动 重启
测试 单元 用例 调试 编译 构建 打包 部署 安装 配置 设置 环境 更新 升级 修改 修复 修正 改进 优化 重构 重写 重新 实现
添加 增加 新增 创建 新建 生成 编写 写入 读取 删除 移除 去掉 替换 移动 复制 粘贴 保存 打开 关闭 显示 隐藏 输入 输出
打印 查找 搜索 查询 检查 检测 验证 处理 解决 问题 错误 报错 异常 失败 成功 警告 缺陷 原因 结果 情况 例子 示例 样例
步骤 方案 办法 方式 建议 意见 想法 思路 理解 知道 觉得 认为 希望 喜欢 使用 利用 调用 支持 提供 包含 包括 根据 按照
关于 对于 通过 进行 作为 成为 变成 属于 存在 出现 发生 发现 得到 获取 拿到 收到 用户 数据 客户 看到 时候 重复 信息
系统 页面 网页 网站 界面 按钮 名称 名字 标题 列表 数字 时间 日期 大小 位置 颜色 图片 简单 复杂 容易 困难 正确 正常
合适 合理 清楚 具体 详细 简短 简洁 完整 主要 重要 基本 一般 通常 经常 直接 立即 马上 顺便 谢谢 感谢 你好 您好 早上
晚上 天气 笑话 故事 诗歌 写诗 一首 首诗 翻译 英文 中文 英语 汉语 语言 句子 段落 单词 工作 任务 计划 目标 要求 需求
公司 学习 教程 入门 推荐 选择 决定 生活 朋友 世界 国家 首都 中国 有什 么用 么样 么办 怎办 是什 为什 什麼 怎麼 為什
這個 那個 一個 這些 我們 你們 請問 請幫 幫我 檔案 程式 式碼 測試 錯誤 問題 執行 專案 修復 繼續 說明 解釋 コー ード
テス スト ファ ァイ イル エラ ラー バグ 追加 削除 変更 実行 確認 説明 関数 作成 해줘 해주 주세 세요 줘요 하세 하기
하고 하는 하면 해서 했는 했어 있는 있어 있다 없는 없어 없다 이거 그거 저거 이것 그것 여기 거기 저기 무엇 어떻 떻게
왜요 그리 리고 그런 런데 하지 지만 그래 래서 입니 니다 습니 합니 니까 까요 인가 나요 코드 테스 스트 실행 행해 파일
오류 에러 버그 수정 정해 확인 인해 추가 가해 삭제 변경 계속 다음 설명 명해 알려 려줘 작성 만들 들어 어줘 고쳐 쳐줘
함수 변수 문제 해결 방법 사용 으로 에서 에게 부터 까지 처럼 보다 이나 这段 这句 这行 那段 这次 那次 这边 속해 拆成
분석 이해 再试 再来 再看 排序 异步 同步 机器 器学 习机
""".split()
)

# Languages, systems and tools that everybody names: they tell something, and call up nothing by themselves.
_FAMILIAR = WordList("""
android angular apache apple aws azure bash bootstrap chrome clang cpp css3 dart debian deno django docker eslint
excel express firefox flask flutter github gitlab golang google gradle graphql html5 intellij ios iphone java
javascript jenkins jest jquery json5 jupyter kotlin kubernetes laravel latex linux lua macos markdown maven mongodb
mysql next.js nextjs nginx node.js nodejs npm numpy openai pandas perl php postgres postgresql powershell pycharm
pytest python python3 pytorch rails react reactjs redis redux ruby rust scala scikit sqlite svelte swift swiftui
tailwind tensorflow terraform typescript ubuntu unix vim vite vscode vue vuejs webpack windows xcode yarn youtube c++
c#
""")


def kind_of(term: str) -> Kind:
    """Return what a *term*, stemmed as in the index, weighs."""
    if _FAMILIAR.has_stem(term):
        return FAMILIAR
    if _DEVELOPERS.has_stem(term):
        return COMMON
    return EVERYDAY if _EVERYDAY.has_stem(term) else TELLING


def is_function_word(word: str) -> bool:
    """Whether *word*, folded, only holds sentences together."""
    return word in _FUNCTION_WORDS


def is_common_pair(pair: str) -> bool:
    """Whether two characters say nothing by themselves: listed, or with Hiragana, which is grammar."""
    return pair in _COMMON_PAIRS or any("\u3041" <= char <= "\u309f" for char in pair)
