// Reports each moment of a turn: whenever something is rendered, asked, answered or appended.
import { type Walked } from './walking.ts';

/**
 * Calls `at` at each moment of a turn, counted from 0; skips every wait and approves every call. Returns a function
 * that stops this and returns the count.
 */
export function eachMoment(
  { headless, clock }: Walked,
  log: Walked['log'],
  at: (moment: number) => void,
): () => number {
  const { frontend } = headless;
  let moments = 0;
  let listening = true;
  const happened = () => {
    if (listening) at(moments++);
  };
  const render = frontend.render.bind(frontend);
  frontend.render = (conversation, drawn) => {
    render(conversation, drawn);
    if (drawn.type === 'retrying') setImmediate(() => clock.advance(drawn.seconds * 1000));
    happened();
  };
  frontend.answer = async (_request, signal) => {
    happened();
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    happened();
    return { action: 'approve', by: 'user' };
  };
  const appended = log.onDidAppend(happened);
  return () => {
    listening = false;
    frontend.render = render;
    appended.dispose();
    return moments;
  };
}
