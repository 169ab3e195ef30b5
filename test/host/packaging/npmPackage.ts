// Builds the npm package `earshot-ears`: earshot-ears, the MCP server for notifications and earshot-notify, without the
// extension.
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { hook, nodePrograms } from '../../../esbuild.mjs';
import { runNpm } from '../install/npm.mjs';
import { repository } from '../setup.mjs';
import { collectNotices } from './notices.ts';

const NAME = 'earshot-ears';

/** `folder` gets the package's files, and `archive` is what `npm publish` and `npm install` take. Returns its bytes. */
export async function makeNpmPackage(folder: string, archive: string): Promise<number> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { ears, 'notifications-mcp': mcp } = nodePrograms.entryPoints as Record<string, string>;
  const outdir = join(folder, 'dist');
  const options = { outdir, minify: true, sourcemap: false, metafile: true as const, logLevel: 'error' as const };
  const banner = { js: `#!/usr/bin/env node\n${nodePrograms.banner?.['js'] ?? ''}` };
  const programs = { ears: ears ?? '', 'notifications-mcp': mcp ?? '' };
  const built = await Promise.all([
    build({ ...nodePrograms, ...options, entryPoints: programs, banner }),
    build({ ...hook, ...options, banner: { js: '#!/usr/bin/env node' } }),
  ]);
  const { version, license } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    version: string;
    license: string;
  };
  const described = {
    ...{ name: NAME, version, license, type: 'module' },
    description:
      'Notifies Claude Code, Codex, Cursor, Gemini CLI, Copilot CLI and opencode of what happens while they work.',
    bin: {
      'earshot-ears': 'dist/ears.js',
      'earshot-notify': 'dist/earshot-notify.js',
      'earshot-notifications-mcp': 'dist/notifications-mcp.js',
    },
    engines: { node: '>=22.13' },
    files: ['dist', 'ThirdPartyNotices.txt'],
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(described, undefined, 2)}\n`);
  await writeFile(
    join(folder, 'ThirdPartyNotices.txt'),
    await collectNotices(
      repository,
      built.map(({ metafile }) => metafile),
    ),
  );
  await cp(join(repository, 'LICENSE'), join(folder, 'LICENSE'));
  await cp(join(repository, 'docs', 'other-agents.md'), join(folder, 'README.md'));
  await runNpm(['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: folder, purpose: NAME });
  await rename(join(folder, `${NAME}-${version}.tgz`), archive);
  return (await stat(archive)).size;
}
