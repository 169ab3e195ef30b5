// Gives the keyboard to what asks for an answer, but never takes it from somebody who is typing.

/** How long after the last key someone still counts as typing. */
const TYPING = 1500;
let lastKey = Number.NEGATIVE_INFINITY;
if (typeof window !== 'undefined') {
  const typed = () => (lastKey = performance.now());
  // Words may also be pasted or dictated.
  for (const event of ['keydown', 'input']) window.addEventListener(event, typed, true);
}

/** `never`: the user has moved on to something else by hand. */
function mayTakeFocus(): 'now' | 'later' | 'never' {
  if (!document.hasFocus()) return 'later';
  const active = document.activeElement;
  if (active === null || active === document.body) return 'now';
  // One after another: what is being answered keeps the keyboard, its fields too.
  if (active.closest('.approval') !== null) return 'later';
  if (!(active instanceof HTMLTextAreaElement)) return 'never';
  return active.value === '' && performance.now() - lastKey >= TYPING ? 'now' : 'later';
}

/**
 * Focuses the element as soon as nobody is typing and nothing typed is left unsent, unless the user has used the mouse
 * or moved the focus meanwhile. The element itself must answer to no key; what is typed there goes to the composer, so
 * that words which were meant for it do not get lost. Returns what ends all that.
 */
export function takeFocusWhenIdle(element: HTMLElement, focusComposer: () => void): () => void {
  const held = new AbortController();
  const waiting = new AbortController();
  let timer: number | undefined;
  const stopWaiting = () => {
    clearTimeout(timer);
    waiting.abort();
  };
  const attempt = () => {
    const may = mayTakeFocus();
    // The reader may have scrolled away; whoever follows the end sees it anyway.
    if (may === 'now') element.focus({ preventScroll: true });
    if (may === 'later') lookLater();
    else stopWaiting();
  };
  const lookLater = () => {
    clearTimeout(timer);
    timer = window.setTimeout(attempt, Math.max(0, lastKey + TYPING - performance.now()) || TYPING);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // No words begin with a space: it was meant for a button.
    const writes = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.target === element && writes) focusComposer();
  };
  element.addEventListener('keydown', onKeyDown, { signal: held.signal });
  window.addEventListener('pointerdown', stopWaiting, { signal: waiting.signal, capture: true });
  attempt();
  return () => {
    held.abort();
    stopWaiting();
  };
}
