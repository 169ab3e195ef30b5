// Stands for the editor's own watcher: another process that tells in batches what was touched below a folder. A program of its own.
import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileTouch } from '../../src/core/sourcePorts.ts';

const BATCH_MILLISECONDS = 75;
const [, , folder = ''] = process.argv;
const waiting = new Map<string, FileTouch['type']>();
let timer: NodeJS.Timeout | undefined;

watch(folder, { recursive: true }, (event, name) => {
  if (name === null || name.startsWith('.git')) return;
  waiting.set(name, event === 'rename' ? 'created' : 'changed');
  timer ??= setTimeout(() => void send().catch((error: unknown) => console.error(error)), BATCH_MILLISECONDS);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function send(): Promise<void> {
  timer = undefined;
  const batch = [...waiting];
  waiting.clear();
  const touches = await Promise.all(
    batch.map(async ([path, type]): Promise<FileTouch> => {
      const there = type === 'changed' || (await stat(join(folder, path)).catch(() => undefined)) !== undefined;
      return { path, type: there ? type : 'deleted' };
    }),
  );
  process.send?.(touches);
}
