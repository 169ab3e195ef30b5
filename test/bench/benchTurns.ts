// One turn of the agent loop for the benches: everything is real (HTTP, the log with its syncs, tools, approvals and
// instructions), and no notifications occur.
import { type Model, type Tool } from '../../src/core/ports/ports.ts';
import { startHeadless } from '../support/walk/headless.ts';
import { CYCLES } from './loopbackModel.ts';

export const RESULT = 'a line of output\n'.repeat(8);

export const look: Tool = {
  description: {
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { at: { type: 'string' } } },
  },
  effect: 'read',
  emits: [],
  parse: (value) => ({ ok: true, value }),
  run: async () => ({ content: RESULT, isError: false }),
};

/** Returns the events of the turn as they are on disk. `watch` gets each request. */
export async function runTurn(model: Model, watch?: (...given: Parameters<Model['stream']>) => void): Promise<string> {
  const headless = await startHeadless({
    model: {
      ...model,
      // A title would be one more request.
      ruleBased: true,
      contextWindow: 10_000_000,
      stream: (request, signal) => {
        watch?.(request, signal);
        return model.stream(request, signal);
      },
    },
    ports: { tools: [look] },
  });
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await headless.earshot.send(log.id, 'Look around.');
  await headless.earshot.settled(log.id);
  const { length: messages } = log.state.messages.all;
  if (messages !== 2 * CYCLES + 2) throw new Error(`the turn has ${messages} messages`);
  const events = await headless.events(log.id);
  await headless.end();
  return events;
}
