from __future__ import annotations

from memtool.web.life import GRACE, READY, STOPPING, Life


def test_a_life_ends_when_nobody_is_being_answered() -> None:
    now = [0.0]
    life = Life(clock=lambda: now[0])
    life.state = READY
    with life.answering():
        life.stop()
        assert not life.is_over()
        assert life.ending.is_set()
    assert life.is_over()


def test_what_was_answered_is_counted() -> None:
    life = Life()
    with life.answering():
        assert life.answered == 0
    assert life.answered == 1


def test_a_request_that_does_not_finish_is_waited_for_so_long() -> None:
    now = [0.0]
    life = Life(clock=lambda: now[0])
    with life.answering():
        life.stop()
        now[0] = GRACE
        life.stop()  # a second time does not prolong it
        assert not life.is_over()
        now[0] = GRACE + 0.1
        assert life.is_over()


def test_a_life_without_questions_ends_and_one_with_them_goes_on() -> None:
    now = [0.0]
    life = Life(idle=60.0, clock=lambda: now[0])
    life.state = READY
    now[0] = 59.0
    assert not life.is_over()
    with life.answering():
        now[0] = 600.0
        assert not life.is_over()
    now[0] = 660.0
    assert not life.is_over()
    now[0] = 661.0
    assert life.is_over()
    assert life.state == STOPPING
