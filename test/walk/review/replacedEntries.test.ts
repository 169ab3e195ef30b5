// Undo of a command restores exact permissions, and files and folders that the command replaced by each other or a link.
import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
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
  const make = async (name: string, mode: number, content = `${name} of mine\n`) => {
    await mkdir(join(at(name), '..'), { recursive: true });
    await writeFile(at(name), content);
    await chmod(at(name), mode);
  };
  /** Every entry of the folder with its mode and content. */
  const tree = async (): Promise<string[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const inner = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    const lines = inner
      .filter((name) => !/^\.git(\/|$)/.test(name))
      .map(async (name) => {
        const stat = await lstat(at(name));
        if (stat.isDirectory()) return `${name}/`;
        if (stat.isSymbolicLink()) return `${name} → ${await readlink(at(name))}`;
        return `${name} ${(stat.mode & 0o7777).toString(8)} ${await readFile(at(name), 'utf8')}`;
      });
    return (await Promise.all(lines)).sort();
  };
  const decision = () => walked.log.state.transcript.items.filter(({ type }) => type === 'notice').at(-1)?.id ?? '';
  return { walked, at, make, tree, decision, ...reviewing(walked) };
}

describe.each(['git', 'repository', 'walk'])('captured with %s', (store) => {
  /** By folder; one command does all of them. */
  const CASES: Readonly<Record<string, string>> = {
    permissions:
      'chmod 600 plain.txt; chmod 644 secret.txt; echo new > shared.txt; chmod 664 shared.txt; echo new > kept.txt; chmod 444 kept.txt; rm gone.txt; chmod 4755 tool.sh; chmod 700 group.sh; chmod 444 plain2.txt',
    'a folder for a file': 'rm plain.txt; mkdir -p plain.txt/deep; echo a > plain.txt/a; echo b > plain.txt/deep/b',
    'a file for a folder': 'rm -r folder; echo file > folder',
    'a link to a file for a folder': 'rm -r folder; ln -s plain.txt folder',
    'a link to the new place for a moved folder': 'mv folder moved; ln -s moved folder',
    'a link to a folder with the same files for a folder': 'rm -r folder; ln -s other folder',
    'a link to a folder for a file': 'rm plain.txt; ln -s folder plain.txt',
    'files and folders that changed places': 'mv folder x; mv plain.txt folder; mv x plain.txt',
  };
  test('permissions, files, folders and links: undo, its revert, and restore give exact states', async () => {
    const command = Object.entries(CASES)
      .map(([name, change]) => `(cd '${name}'; ${change})`)
      .join('; ');
    const { walked, make, tree, review, deps, decision } = await begin(store, command);
    for (const name of Object.keys(CASES)) {
      const makeIn = (path: string, mode: number, content = `${name}/${path} of mine\n`) =>
        make(`${name}/${path}`, mode, content);
      await makeIn('plain.txt', 0o644);
      await makeIn('plain2.txt', 0o644);
      await makeIn('secret.txt', 0o600);
      await makeIn('shared.txt', 0o660);
      await makeIn('kept.txt', 0o640);
      await makeIn('gone.txt', 0o600);
      await makeIn('tool.sh', 0o755);
      await makeIn('group.sh', 0o750);
      await makeIn('folder/one.txt', 0o600, 'one\n');
      await makeIn('folder/deep/two.txt', 0o644);
      await makeIn('other/one.txt', 0o644, 'one\n');
    }
    const before = await tree();
    await walked.go();
    const after = await tree();
    for (const name of Object.keys(CASES)) {
      const own = (lines: readonly string[]) => lines.filter((line) => line.startsWith(`${name}/`));
      expect(own(after)).not.toEqual(own(before));
    }
    const files = (lines: readonly string[]) => lines.filter((line) => !line.endsWith('/'));
    expect((await value(review.undo())).stayed).toEqual([]);
    expect(files(await tree())).toEqual(files(before));
    expect(await review.files()).toEqual([]);
    expect((await value(revertDecision(deps, decision()))).stayed).toEqual([]);
    expect(files(await tree())).toEqual(files(after));
    const plan = await value(planRestore(deps, walked.log.state.changes.turns[0]?.request ?? ''));
    expect((await value(restore(deps, plan, plan.entries))).stayed).toEqual([]);
    expect(files(await tree())).toEqual(files(before));
    expect(walked.headless.errors).toEqual([]);
  });

  test('a folder in the place of a file is left alone if somebody else has a file in it', async () => {
    const { walked, make, at, tree, review } = await begin(
      store,
      'rm plain.txt; mkdir plain.txt; echo a > plain.txt/a',
    );
    await make('plain.txt', 0o644);
    await walked.go();
    await writeFile(at('plain.txt/mine'), 'mine');
    const { stayed } = await value(review.undo());
    expect(stayed.map(({ path }) => path)).toEqual(['plain.txt']);
    expect(stayed[0]?.reason).toBe('plain.txt is a folder now, and it has files.');
    expect(await tree()).toEqual(['plain.txt/', 'plain.txt/mine 644 mine'].sort());
  });

  test('permissions that somebody else has set since stay', async () => {
    const { walked, make, at, tree, review } = await begin(store, 'chmod 600 plain.txt; echo more >> plain.txt');
    await make('plain.txt', 0o644);
    await walked.go();
    await chmod(at('plain.txt'), 0o640);
    await value(review.undo());
    expect(await tree()).toEqual(['plain.txt 640 plain.txt of mine\n']);
  });

  test('permissions that others changed are listed in the plan, and restored if chosen', async () => {
    const { walked, make, at, tree, deps } = await begin(store, 'true');
    await make('plain.txt', 0o640);
    await make('gone.txt', 0o600);
    await walked.go();
    await chmod(at('plain.txt'), 0o644);
    await rm(at('gone.txt'));
    const plan = await value(planRestore(deps, walked.log.state.changes.turns[0]?.request ?? ''));
    expect(plan.entries.map(({ path, by, outcome }) => `${path} ${by} ${outcome}`).sort()).toEqual([
      'gone.txt others created',
      'plain.txt others restored',
    ]);
    await value(restore(deps, plan, plan.entries));
    expect(await tree()).toEqual(['gone.txt 600 gone.txt of mine\n', 'plain.txt 640 plain.txt of mine\n']);
  });
});
