// The notice of the operating system, with a replacement for its program on PATH.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { platformFor } from '../../../src/node/platform/platform.ts';
import { showSystemNotice } from '../../../src/node/systemNotice.ts';

test.runIf(process.platform === 'linux')(
  'the program gets title and text as arguments, whatever they contain',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'earshot-notice-'));
    try {
      const program = join(folder, 'notify-send');
      await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/given"\n`);
      await chmod(program, 0o755);
      const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
      expect(await showSystemNotice('Earshot', '$(touch hacked); --urgency "x"\nsecond', env)).toBe(true);
      const given = (await readFile(join(folder, 'given'), 'utf8')).trimEnd().split('\n');
      expect(given).toEqual(['--app-name', 'Earshot', '--', 'Earshot', '$(touch hacked); --urgency "x" second']);
      expect(await showSystemNotice('Earshot', 'x', { PATH: folder.concat('/nothing') })).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test('a system without such a program shows nothing', () => {
  expect(platformFor('win32').notices.program('a', 'b')).toBeUndefined();
  expect(platformFor('darwin').notices.program('a', 'b')?.given.slice(-2)).toEqual(['a', 'b']);
});
