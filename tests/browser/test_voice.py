"""Voice in a real browser, whose speech services are stood in for: they need its maker's."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Chat, button, composer, log, say
from tests.support.fake_openai import FakeOpenAI, text

pytestmark = pytest.mark.browser

STAND_IN = """
window.said = [];
class Heard extends EventTarget {
  start() { window.recognition = this; }
  abort() { this.dispatchEvent(new Event("end")); }
  hear(...transcripts) {
    const event = new Event("result");
    event.results = transcripts.map((transcript) => [{ transcript }]);
    this.dispatchEvent(event);
  }
  fail(error) { this.dispatchEvent(Object.assign(new Event("error"), { error })); }
}
window.SpeechRecognition = window.webkitSpeechRecognition = Heard;
const speak = (utterance) => window.said.push(utterance.text) && (window.last = utterance);
Object.defineProperty(window, "speechSynthesis", { value: { speak, cancel: () => {} } });
"""
NOTHING = """
for (const name of ["SpeechRecognition", "webkitSpeechRecognition", "speechSynthesis"]) {
  Object.defineProperty(window, name, { value: undefined });
}
"""


def test_a_message_is_dictated_and_an_answer_read_aloud(
    context: BrowserContext, agent: str, model: FakeOpenAI, chat: Chat
) -> None:
    context.add_init_script(STAND_IN)
    page = chat(agent)
    composer(page).fill("Dear tutor,")
    button(page, "Dictate").click()
    expect(page.get_by_text("may send what you say to a service of its maker")).to_be_visible()
    page.evaluate("recognition.hear('when is Riga', ' at its best')")
    expect(composer(page)).to_have_value("Dear tutor, when is Riga at its best")
    button(page, "Dictate").click()
    page.evaluate("recognition.hear('too late')")
    expect(composer(page)).to_have_value("Dear tutor, when is Riga at its best")
    button(page, "Dictate").click()
    page.evaluate("recognition.fail('not-allowed')")
    expect(page.get_by_text("The browser may not use the microphone.")).to_be_visible()
    expect(button(page, "Dictate")).to_have_attribute("aria-pressed", "false")

    model.script(text("In **June**. Run this:\n\n```\nprint(1)\n```\n\nThen go."))
    say(page, "When?")
    answer = log(page).locator("article.assistant")
    expect(answer).to_contain_text("Then go.")
    answer.hover()
    button(answer, "Read this message aloud").click()
    spoken = "".join(page.evaluate("said"))
    assert "In June. Run this:" in spoken
    assert "Then go." in spoken
    assert "print" not in spoken
    pressed = button(answer, "Read this message aloud")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    page.evaluate("last.onend()")
    expect(pressed).to_have_attribute("aria-pressed", "false")
    expect(log(page).locator("article.user [data-speak]")).to_have_count(0)


def test_a_browser_without_voice_is_offered_none(
    context: BrowserContext, agent: str, model: FakeOpenAI, chat: Chat
) -> None:
    context.add_init_script(NOTHING)
    page = chat(agent)
    model.script(text("Hello."))
    say(page, "Hello")
    expect(log(page)).to_contain_text("Hello.")
    expect(page.locator("#dictate")).to_be_hidden()
    expect(page.locator("[data-speak]")).to_be_hidden()
