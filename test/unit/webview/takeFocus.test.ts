// Who gets the keyboard when something asks for an answer: never taken from somebody who types, always given once they paused.
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

  focus(): void {
    page.activeElement = this;
  }

  /** As the browser would deliver it: the window first. */
  press(key: string): void {
    windowEvents.dispatchEvent(new Event('keydown'));
    this.dispatchEvent(Object.assign(new Event('keydown'), { key }));
  }
}
class FakeField extends FakeElement {}

const page = { hasFocus: () => true, activeElement: new FakeElement(), body: new FakeElement() };
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
  ({ takeFocusWhenIdle } = await import('../../../src/webview/render/takeFocus.ts'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function ask(): { card: FakeElement; end(): void } {
  const card = new FakeElement('.approval');
  // Only what the function uses of it is there.
  return { card, end: takeFocusWhenIdle(card as Partial<HTMLElement> as HTMLElement, () => composer.focus()) };
}

test('asked right after Enter: it gets the keyboard once 1.5 s have passed without a key', () => {
  composer.press('Enter');
  const { card } = ask();
  vi.advanceTimersByTime(1400);
  expect(page.activeElement).toBe(composer);
  composer.press('Shift');
  vi.advanceTimersByTime(1400);
  expect(page.activeElement).toBe(composer);
  vi.advanceTimersByTime(200);
  expect(page.activeElement).toBe(card);
});

test('asked while nobody types: it gets the keyboard at once', () => {
  vi.advanceTimersByTime(5000);
  const { card } = ask();
  expect(page.activeElement).toBe(card);
});

test('words that were not sent yet keep the keyboard, however long the pause; after they are sent it is given', () => {
  composer.value = 'wait, ';
  composer.press(' ');
  const { card } = ask();
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(composer);
  composer.press('Enter');
  composer.value = '';
  vi.advanceTimersByTime(3000);
  expect(page.activeElement).toBe(card);
});

test('what is typed on the card goes to the composer; other keys stay', () => {
  vi.advanceTimersByTime(5000);
  const { card } = ask();
  for (const key of ['Enter', ' ', 'Tab', 'Escape', 'ArrowDown']) card.press(key);
  expect(page.activeElement).toBe(card);
  card.press('n');
  expect(page.activeElement).toBe(composer);
});

test('whoever uses the mouse or moves the focus meanwhile keeps it', () => {
  composer.press('Enter');
  ask();
  windowEvents.dispatchEvent(new Event('pointerdown'));
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(composer);
  const button = new FakeElement();
  ask();
  page.activeElement = button;
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(button);
});

test('two at once: the second waits while the first has the keyboard, its empty field too', () => {
  vi.advanceTimersByTime(5000);
  const first = ask();
  const second = ask();
  const reason = new FakeField('.approval');
  page.activeElement = reason;
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(reason);
  first.end();
  composer.focus();
  vi.advanceTimersByTime(3000);
  expect(page.activeElement).toBe(second.card);
});

test('with the keyboard in the editor it waits until the chat has it; answered meanwhile, it does nothing', () => {
  page.hasFocus = () => false;
  const { card } = ask();
  const { card: other, end } = ask();
  vi.advanceTimersByTime(60_000);
  expect(page.activeElement).toBe(composer);
  end();
  page.hasFocus = () => true;
  vi.advanceTimersByTime(3000);
  expect(page.activeElement).toBe(card);
  expect(page.activeElement).not.toBe(other);
  expect(vi.getTimerCount()).toBe(0);
});
