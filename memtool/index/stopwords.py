"""Words that say nothing about what is asked."""

from __future__ import annotations

# English function and question words; they are indexed, and left out of queries. Words of place, time and number
# (before, under, most, few) are not among them: questions turn on them.
ENGLISH_STOP_WORDS = frozenset(
    """
    a about also am an and any are aren as at be because been being but by can cannot could couldn did didn do does
    doesn doing don for from had hadn has hasn have haven having he her here hers herself him himself his how i if
    in into is isn it its itself just ll many me much my myself nor now of on or our ours ourselves re s shan she
    should shouldn so some t than that the their theirs them themselves then there these they this those to too ve
    was wasn we were weren what when where which while who whom whose why will with won would wouldn you your yours
    yourself yourselves
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shant shouldnt wasnt werent wont wouldnt
    """.split()
)

# Chinese and Korean question and function words, as a pattern. They break a run in two, so that no pair of
# characters spans them. Characters that also occur inside words (和 in 和平, 对 in 对象, 在 in 存在) are not among
# them, and neither are Japanese particles: cutting there costs more than it brings.
BREAKING_WORDS = "|".join(
    sorted(
        """
        什么 甚么 什麼 甚麼 哪些 哪个 哪個 哪里 哪裡 哪儿 哪一 哪 如何 怎么 怎麼 怎样 怎樣 怎 为什么 為什麼
        为何 為何 是否 能否 可否 多少 几个 幾個 谁 誰 何时 何時 何地 吗 嗎 呢 吧 啊 请问 請問 我们 我們 你们
        你們 他们 他們 可以 应该 應該 需要 因为 因為 (?<!目)的(?![确確士]) 무엇 무엇인가 무엇을 무엇이 어떻게
        어떤 어디 어디서 어디에 어디인가 언제 누구 누가 누구인가 왜 얼마 몇 어느 하는가 했는가 인가 인가요
        입니까 합니까 습니까 했나 했나요 하나요 는가
        """.split(),
        key=len,
        reverse=True,
    )
)
