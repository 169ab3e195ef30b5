// Measures a turn that streams 1 MB while a plugin reads nothing, compared with the same turn without a plugin.
import { endAll } from '../support/endings.ts';
import { createPluginWorld } from '../support/plugins/pluginWorld.ts';
import { measure } from './measure.ts';

const PIECES = Array.from({ length: 20_000 }, (_, index) => `piece ${index} `.padEnd(52, 'x'));
const TURNS = 5;

const alone = await createPluginWorld();
const watched = await createPluginWorld();
const [quiet, followed] = [await alone.conversation(), await watched.conversation()];
const plugin = await watched.spawn();
await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: followed });
plugin.pause();

async function stream(world: typeof alone, conversation: string): Promise<number> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    world.model.script({ text: PIECES });
    await world.turn(conversation);
  }
  return TURNS;
}

await measure({
  what: 'a turn that streams 1 MB, with a plugin that reads nothing',
  control: 'without a plugin',
  goal: 1.25,
  runControl: () => stream(alone, quiet),
  runEarshot: () => stream(watched, followed),
});
const waiting = watched.host.waitingFor('tea') / 1024 / 1024;
console.log(`  ${waiting.toFixed(1)} MiB are queued for the plugin (limit 16 MiB)`);
if (waiting > 17) process.exitCode = 1;
plugin.destroy();
await endAll();
