// Undo of a command restores links, names that are not UTF-8 and the executable bit, with git and without.
import { execFileSync } from 'node:child_process';
import { chmod, lstat, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { revertDecision, planRestore, restore } from '../../../src/core/checkpoints/restore.ts';
import { checkpointsWithoutGit } from '../../support/walk/checkpointsWithoutGit.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

async function begin(store: string, command: string) {
  const run = { calls: [{ id: 'c', name: 'run_command', arguments: { command } }] };
  const walked = await beginWalk([run, { text: ['Done.'] }], {
    checkpoints: true,
    ...(store === 'walk' && { ports: { checkpoints: await checkpointsWithoutGit() } }),
  });
  const { folder } = walked.headless;
  if (store === 'repository') execFileSync('git', ['init', '-q'], { cwd: folder });
  const at = (name: string) => join(folder, name);
  /** A readable list of the folder. */
  const entry = async (name: string | Buffer): Promise<string> => {
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
    const stat = await lstat(path).catch(() => undefined);
    if (stat === undefined) return 'nothing';
    if (stat.isSymbolicLink()) return `link to ${await readlink(path)}`;
    return `${(stat.mode & 0o100) === 0 ? 'file' : 'program'} ${JSON.stringify(await readFile(path, 'latin1'))}`;
  };
  const decision = () => {
    const items = walked.log.state.transcript.items.filter(({ type }) => type === 'notice');
    return items.at(-1)?.id ?? '';
  };
  return { walked, folder, at, entry, decision, ...reviewing(walked) };
}

describe.each(['git', 'repository', 'walk'])('captured with %s', (store) => {
  test('a file that became a link, also out of the workspace, is restored, and the link’s target is untouched', async () => {
    const command = 'ln -sf other.txt a.txt; rm b.txt; ln -s /etc/hostname b.txt; ln -sf nowhere c.txt';
    const { walked, at, entry, review, deps, decision } = await begin(store, command);
    for (const name of ['a', 'b', 'c', 'other']) await writeFile(at(`${name}.txt`), `${name} of mine\n`);
    const hostname = await readFile('/etc/hostname', 'latin1');
    await walked.go();
    expect(await entry('a.txt')).toBe('link to other.txt');
    expect((await review.files()).map(({ path, kind, clash }) => `${path} ${kind} ${clash}`)).toEqual([
      'a.txt changed false',
      'b.txt changed false',
      'c.txt changed false',
    ]);
    expect(Buffer.from((await review.base('a.txt'))?.bytes ?? []).toString()).toBe('a of mine\n');
    expect((await value(review.undo())).done).toEqual(['a.txt', 'b.txt', 'c.txt']);
    const now = async () => Promise.all(['a.txt', 'b.txt', 'c.txt', 'other.txt'].map((name) => entry(name)));
    const original = ['file "a of mine\\n"', 'file "b of mine\\n"', 'file "c of mine\\n"', 'file "other of mine\\n"'];
    expect(await now()).toEqual(original);
    expect(await readFile('/etc/hostname', 'latin1')).toBe(hostname);
    await value(revertDecision(deps, decision()));
    expect((await now()).slice(0, 3)).toEqual(['link to other.txt', 'link to /etc/hostname', 'link to nowhere']);
    const request = walked.log.state.changes.turns[0]?.request ?? '';
    const plan = await value(planRestore(deps, request));
    await value(restore(deps, plan, plan.entries));
    expect(await now()).toEqual(original);
    expect(walked.headless.errors).toEqual([]);
  });

  test('links that were removed, retargeted or replaced by a file are restored; a created one is removed', async () => {
    const command =
      'rm gone; ln -sfn there moved; rm filled; echo file > filled; ln -s x made; rm -f folder; mkdir folder';
    const { walked, at, entry, review } = await begin(store, command);
    await symlink('target', at('gone'));
    await symlink('here', at('moved'));
    await symlink('/nowhere at all', at('filled'));
    await symlink('.', at('folder'));
    await walked.go();
    expect((await value(review.undo())).stayed).toEqual([]);
    expect(await Promise.all(['gone', 'moved', 'filled', 'made', 'folder'].map((name) => entry(name)))).toEqual([
      'link to target',
      'link to here',
      'link to /nowhere at all',
      'nothing',
      'link to .',
    ]);
  });

  test('a link that somebody else has changed since is left alone', async () => {
    const { walked, at, entry, review } = await begin(store, 'ln -sf agent a.txt');
    await writeFile(at('a.txt'), 'mine\n');
    await walked.go();
    await rm(at('a.txt'));
    await symlink('user', at('a.txt'));
    const { done, stayed } = await value(review.undo());
    expect([done, stayed.map(({ path }) => path)]).toEqual([[], ['a.txt']]);
    expect(await entry('a.txt')).toBe('link to user');
  });

  test('the executable bit is restored, alone, with changed bytes, and with a removed file', async () => {
    const command =
      'chmod -x only.sh; rm gone.sh; echo new > both.sh; chmod -x both.sh; chmod +x set.txt; echo more >> kept.sh';
    const { walked, at, entry, review } = await begin(store, command);
    const programs = ['only.sh', 'gone.sh', 'both.sh', 'kept.sh'];
    for (const name of [...programs, 'set.txt']) await writeFile(at(name), `${name}\n`);
    for (const name of programs) await chmod(at(name), 0o755);
    await walked.go();
    expect((await review.files()).map(({ path }) => path).sort()).toEqual([...programs, 'set.txt'].sort());
    expect((await value(review.undo())).stayed).toEqual([]);
    const now = await Promise.all([...programs, 'set.txt'].map((name) => entry(name)));
    expect(now).toEqual([...programs.map((name) => `program "${name}\\n"`), 'file "set.txt\\n"']);
    expect(await review.files()).toEqual([]);
  });

  test('a file whose name is not UTF-8 is listed, and its change, removal and creation are undone', async () => {
    const command =
      'cd $(printf \'d\\344\') && for f in gone*; do rm "$f"; done; for f in over*; do echo new > "$f"; done; cd ..; : > $(printf \'made\\351\')';
    const { walked, folder, entry, review } = await begin(store, command);
    const odd = (name: string) => Buffer.from(name, 'latin1');
    execFileSync(
      'sh',
      [
        '-c',
        "d=$(printf 'd\\344'); mkdir $d; printf gone > $d/gone$(printf '\\351'); printf over > $d/over$(printf '\\351')",
      ],
      {
        cwd: folder,
      },
    );
    await walked.go();
    expect(await entry(odd('dä/goneé'))).toBe('nothing');
    expect(await entry(odd('dä/overé'))).toBe('file "new\\n"');
    expect(await review.files()).toHaveLength(3);
    expect((await value(review.undo())).stayed).toEqual([]);
    expect(await entry(odd('dä/goneé'))).toBe('file "gone"');
    expect(await entry(odd('dä/overé'))).toBe('file "over"');
    expect(await entry(odd('madeé'))).toBe('nothing');
    expect((await readdir(folder, 'buffer')).some((name) => name.includes(0xe9))).toBe(false);
  });
});
