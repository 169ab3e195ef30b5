// A window without an editor that a test kills: follows lines of a command, of a file and of scripts in one conversation.
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { startHeadlessIn } from './headless.ts';

/** `conversation`: empty for the first window, which begins it. */
const [, , root = '', baseUrl = '', home = '', conversation = ''] = process.argv;
const model = createChatModel({ baseUrl, model: 'm', options: {}, apiKey: async () => 'k' });
const headless = await startHeadlessIn(root, {
  model,
  settings: { 'approvals.mode': 'all', 'notifications.activation': 'passive' },
  // A busy machine may need long to start the next window.
  supervisors: { processes: true, unownedMilliseconds: 600_000 },
  scripts: { home },
});
const { earshot, scripts } = headless;
const opened = conversation === '' ? await earshot.create() : await earshot.open(conversation);
if (!opened.ok) throw new Error(opened.failure.message);
const { id } = opened.value.log;
if (conversation === '') {
  await earshot.send(id, 'Begin.');
  await earshot.settled(id);
}
const take = async () => scripts?.taken('');
setInterval(() => void take().catch(() => undefined), 20);
process.stdout.write(`${id}\n`);
