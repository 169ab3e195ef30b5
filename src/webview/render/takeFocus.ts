// Moves the focus to a card that needs an answer, but never while the user is typing.

/** How long after the last key the user still counts as typing. */
const TYPING_MILLISECONDS = 1500;
let lastKey = Number.NEGATIVE_INFINITY;
if (typeof window !== 'undefined') {
  const typed = () => (lastKey = performance.now());
  // Text may also be pasted or dictated.
  for (const event of ['keydown', 'input']) window.addEventListener(event, typed, true);
}

/** The card of the first open request, in the order of the calls. */
export function firstRequest(): HTMLElement | null {
  return document.querySelector<HTMLElement>('.approval[tabindex]');
}

/** Focuses the card itself, not a button. Returns false if no request is open. */
function focusFirstRequest(): boolean {
  const first = firstRequest();
  first?.focus({ preventScroll: true });
  return first !== null;
}

/**
 * After an answer the focused button is gone: the next request gets the focus, else the composer. Not if the user has gone
 * to another part of the window meanwhile, such as an editor: what is typed there must not end up in the chat.
 */
export function focusAfterAnswer(focusComposer: () => void): void {
  if (!document.hasFocus() || document.activeElement !== document.body) return;
  if (!focusFirstRequest()) focusComposer();
}

/** `never`: the user has moved the focus elsewhere. */
function mayTakeFocus(element: HTMLElement): 'now' | 'later' | 'never' {
  if (!document.hasFocus()) return 'later';
  // Calls are asked for in their order, whichever of their cards is shown first.
  const isCard = element.classList.contains('approval');
  if (isCard && firstRequest() !== element) return 'later';
  const active = document.activeElement;
  if (active === null || active === document.body) return 'now';
  if (active === element) return 'never';
  // A later card that only has the focus gives it to the first one; a card that is being answered keeps it.
  const isIdle = performance.now() - lastKey >= TYPING_MILLISECONDS;
  if (isCard && isIdle && active.matches('.approval[tabindex]')) return 'now';
  if (active.closest('.approval') !== null) return 'later';
  if (!(active instanceof HTMLTextAreaElement)) return 'never';
  return active.value === '' && isIdle ? 'now' : 'later';
}

function isVisible(element: HTMLElement): boolean {
  const area = element.closest('.scroller')?.getBoundingClientRect();
  if (area === undefined) return true;
  const { top, bottom } = element.getBoundingClientRect();
  return top < area.bottom && bottom > area.top;
}

/**
 * Focuses the element once the user is not typing and no text is unsent, unless the user has used the mouse or moved the
 * focus meanwhile. The element itself must not react to keys; typing there moves the focus to the composer, so that no
 * text is lost. Returns a function that stops this.
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
    // For an element that is not visible, the bar above the composer takes the focus instead.
    const may = isVisible(element) ? mayTakeFocus(element) : 'later';
    // Does not scroll: the reader may be reading elsewhere.
    if (may === 'now') element.focus({ preventScroll: true });
    if (may === 'later') retryLater();
    else stopWaiting();
  };
  const retryLater = () => {
    clearTimeout(timer);
    timer = window.setTimeout(
      attempt,
      Math.max(0, lastKey + TYPING_MILLISECONDS - performance.now()) || TYPING_MILLISECONDS,
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // A message does not begin with a space, so the key was meant for a button.
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
