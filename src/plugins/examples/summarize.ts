// A program plugin on the typed client: asks a new conversation a question and prints the answer while it streams.
import { runPlugin } from '../client/pluginClient.ts';

const { promise: complete, resolve } = Promise.withResolvers<string>();

await runPlugin({
  describe: { name: 'summarize', version: '1.0.0', description: 'Summarizes the workspace in one sentence.' },
  event: ({ partial, data }, client) => {
    if (partial !== undefined && typeof data['message'] === 'string') client.print(data['message']);
    if (data.type === 'query_complete') resolve(String(data['outcome']));
  },
  run: async (client, { args }) => {
    const content = args.join(' ') || 'Summarize this workspace in one sentence.';
    await client.request('query', { new: true, sub_id: 'answer', title: 'Summary', content });
    const outcome = await Promise.race([complete, client.shutDown]);
    return outcome === 'done' ? 0 : 1;
  },
});
