// Approval of program plugins that run code of the workspace, in whatever way their command names it.
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type ConfiguredProgram } from '../../../src/plugins/host/consent.ts';
import { pinForms, usualPinForms, writeForm } from '../../support/pins/forms.ts';
import { isFull } from '../../support/runs.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

const QUICK = `echo '{"type":"exit","code":0}'`;

function program(command: string[], more: Partial<ConfiguredProgram> = {}): ConfiguredProgram {
  return { command, run: 'ask', start: 'manual', options: {}, approve: false, ...more };
}

async function script(folder: string, name: string, text: string): Promise<void> {
  const path = resolve(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
}

test.each([{ command: ['./tool.sh'] }, { command: ['sh', 'tool.sh'] }, { command: ['../own/linked'] }])(
  'run: allow does not cover the workspace’s own files: $command',
  async ({ command }) => {
    const world = await createPluginWorld();
    const { host, programs, user, consents } = world;
    await script(world.headless.folder, 'tool.sh', `touch ran\n${QUICK}`);
    await script(world.headless.folder, '../own/other.sh', QUICK);
    await symlink(join(world.headless.folder, 'tool.sh'), join(world.headless.folder, '../own/linked'));
    programs.set('tea', program(command, { run: 'allow', fromUser: true }));
    user.approves = false;
    expect(await host.run('tea')).toMatchObject({ ok: false, failure: { code: 'not_approved' } });
    await expect(stat(join(world.headless.folder, 'ran'))).rejects.toThrow();
    expect(consents).toHaveLength(1);
    user.approves = true;
    expect(await host.run('tea')).toMatchObject({ ok: true });
    await host.ended('tea');
  },
);

test.each(isFull ? pinForms : usualPinForms)(
  '$name: changed code of a plugin does not run in another window',
  async (form) => {
    const world = await createPluginWorld();
    const { folder } = world.headless;
    await writeForm(folder, form);
    world.programs.set('tea', program([...form.command]));
    const run = async (host = world.host) => {
      const ran = await host.run('tea');
      await host.ended('tea');
      return ran.ok;
    };
    const marks = () => readFile(join(folder, 'ran.txt'), 'utf8').catch(() => '');
    expect(await run()).toBe(true);
    expect(await marks()).toBe('ONE\n');
    const changed = join(folder, form.changed ?? 'lib.js');
    await writeFile(changed, (await readFile(changed, 'utf8')).replace('ONE', 'TWO'));
    world.user.approves = false;
    const again = (await world.second()).host;
    expect(await run(again)).toBe(false);
    expect(await marks()).toBe('ONE\n');
  },
);
