// The focus of a card that asks for an answer: never taken from a user who is typing, moved after a pause.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

class FakeElement extends EventTarget {
  value = '';
  readonly inside: string[];

  constructor(...inside: string[]) {
    super();
    this.inside = inside;
  }

  closest(selector: string): this | null {
    return this.inside.includes(selector) ? this : null;
  }

  /** Only for the selector of cards. */
  matches(): boolean {
    return page.cards.includes(this);
  }

  readonly classList = { contains: (name: string) => this.inside.includes(`.${name}`) };

  focus(): void {
    page.activeElement = this;
  }

  /** The window gets the event first, as in a browser. */
  press(key: string): void {
    windowEvents.dispatchEvent(new Event('keydown'));
    this.dispatchEvent(Object.assign(new Event('keydown'), { key }));
  }
}
class FakeField extends FakeElement {}

const page = {
  hasFocus: () => true,
  activeElement: new FakeElement(),
  body: new FakeElement(),
  /** The open cards in the order of the page. */
  cards: [] as FakeElement[],
  querySelector: () => page.cards[0] ?? null,
};
let windowEvents: EventTarget;
let composer: FakeField;
let takeFocusWhenIdle: (element: HTMLElement, focusComposer: () => void) => () => void;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  windowEvents = new EventTarget();
  const { setTimeout } = globalThis;
  vi.stubGlobal('window', Object.assign(windowEvents, { setTimeout }));
  vi.stubGlobal('document', page);
  vi.stubGlobal('HTMLTextAreaElement', FakeField);
  composer = new FakeField();
  page.activeElement = composer;
  page.hasFocus = () => true;
  page.cards = [];
  ({ takeFocusWhenIdle } = await import('../../../src/webview/render/takeFocus.ts'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Below the other cards, or above them. */
function showCard(place: 'below' | 'above' = 'below'): { card: FakeElement; end(): void } {
  const card = new FakeElement('.approval');
  if (place === 'below') page.cards.push(card);
  else page.cards.unshift(card);
  // The fake has only the members that the function uses.
  const release = takeFocusWhenIdle(card as unknown as HTMLElement, () => composer.focus());
  const end = () => {
    page.cards = page.cards.filter((one) => one !== card);
    release();
  };
  return { card, end };
}

test('a card shown right after Enter gets the focus after 1.5 s without a key', () => {
  composer.press('Enter');
  const { card } = showCard();
  vi.advanceTimersByTime(1400);
  expect(page.activeElement).toBe(composer);
  composer.press('Shift');
  vi.advanceTimersByTime(1400);
  expect(page.activeElement).toBe(composer);
  vi.advanceTimersByTime(200);
  expect(page.activeElement).toBe(card);
});

test('a card shown while nobody types gets the focus at once', () => {
  vi.advanceTimersByTime(5000);
  const { card } = showCard();
  expect(page.activeElement).toBe(card);
});

test('an unsent draft keeps the focus in the composer; sending it moves the focus to the card', () => {
  composer.value = 'wait, ';
  composer.press(' ');
  const { card } = showCard();
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(composer);
  composer.press('Enter');
  composer.value = '';
  vi.advanceTimersByTime(3000);
  expect(page.activeElement).toBe(card);
});

test('typing a letter on the card moves the focus to the composer; other keys do not', () => {
  vi.advanceTimersByTime(5000);
  const { card } = showCard();
  for (const key of ['Enter', ' ', 'Tab', 'Escape', 'ArrowDown']) card.press(key);
  expect(page.activeElement).toBe(card);
  card.press('n');
  expect(page.activeElement).toBe(composer);
});

test('using the mouse or moving the focus meanwhile keeps the focus there', () => {
  composer.press('Enter');
  showCard();
  windowEvents.dispatchEvent(new Event('pointerdown'));
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(composer);
  const button = new FakeElement();
  showCard();
  page.activeElement = button;
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(button);
});

test('a second card gets the focus only after the first one, including its text field, has lost it', () => {
  vi.advanceTimersByTime(5000);
  const first = showCard();
  const second = showCard();
  const reason = new FakeField('.approval');
  page.activeElement = reason;
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(reason);
  first.end();
  composer.focus();
  vi.advanceTimersByTime(3000);
  expect(page.activeElement).toBe(second.card);
});

test('a later card that is shown first gives the focus to the first one, unless it is being answered', () => {
  vi.advanceTimersByTime(5000);
  const later = showCard();
  expect(page.activeElement).toBe(later.card);
  const first = showCard('above');
  expect(page.activeElement).toBe(first.card);
  first.end();
  later.end();
  const answered = showCard();
  page.activeElement = new FakeElement('.approval');
  showCard('above');
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).not.toBe(answered.card);
  expect(page.cards).not.toContain(page.activeElement);
});

test('while the editor has the focus a card waits for the chat; an answered card does not take it', () => {
  page.hasFocus = () => false;
  const { card } = showCard();
  const { card: other, end } = showCard();
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(composer);
  end();
  page.hasFocus = () => true;
  vi.advanceTimersByTime(3000);
  expect(page.activeElement).toBe(card);
  expect(page.activeElement).not.toBe(other);
  expect(vi.getTimerCount()).toBe(0);
});
