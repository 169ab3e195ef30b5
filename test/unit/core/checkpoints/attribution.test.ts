// Attribution where the system does not say when processes ran.
import { expect, test } from 'vitest';
import { Attribution } from '../../../../src/core/checkpoints/captures.ts';
import { createProcessObserver } from '../../../../src/node/processActivity.ts';

test('what cannot be attributed is changed meanwhile, unless the output of the command shows it', async () => {
  const attribution = new Attribution({ watch: () => createProcessObserver(undefined).watch() });
  attribution.begin([], true);
  attribution.observe({ pid: 1, since: 0, ended: () => undefined });
  const changed = (path: string, text?: string) => ({
    file: { path, absolute: `/w/${path}` },
    ...(text !== undefined && { after: Buffer.from(text) }),
  });
  const shown = 'export const tea = 1;\r\nexport const milk = 2;\r\n';
  const changes = [changed('shown.ts', shown), changed('other.ts', 'export const sugar = 3;\n'), changed('gone.ts')];
  const output = 'exit code 0\nexport const tea = 1;\nexport const milk = 2;\n';
  const times = new Map(changes.map(({ file }) => [file.path, Date.now()]));
  const others = await attribution.othersOf([...changes, changed('short.txt', '0\n')], times, output);
  expect([...others]).toEqual(['other.ts', 'gone.ts', 'short.txt']);
  attribution.end(true);
});
