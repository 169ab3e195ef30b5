// Ways in which a command of a workspace runs code of the workspace without naming that code's file exactly.
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface PinForm {
  readonly name: string;
  readonly command: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Links by name, to targets that are relative to the link. */
  readonly links?: Readonly<Record<string, string>>;
  /** The file that has the marker `ONE`, which an attacker replaces by `TWO`; default: `lib.js`. */
  readonly changed?: string;
  /** Variables that the configuration sets; only MCP servers have them. */
  readonly env?: Readonly<Record<string, string>>;
  /** True: the approval holds for one window, since not all code can be determined. */
  readonly unpinned: boolean;
}

/** Code that leaves its marker in `ran.txt`. */
const JS = "require('fs').appendFileSync('ran.txt', 'ONE\\n');";
const SH = 'echo ONE >> ran.txt\n';
const PY = "open('ran.txt', 'a').write('ONE\\n')\n";

export const pinForms: readonly PinForm[] = [
  { name: 'node server', command: ['node', 'lib'], unpinned: false },
  {
    name: 'node . by main',
    command: ['node', '.'],
    files: { 'package.json': '{"main": "sub/lib.js"}', 'sub/lib.js': JS },
    changed: 'sub/lib.js',
    unpinned: false,
  },
  {
    name: 'node . by index.js',
    command: ['node', '.'],
    files: { 'index.js': JS },
    changed: 'index.js',
    unpinned: false,
  },
  { name: 'node -r', command: ['node', '-r', './lib', 'idle.js'], unpinned: false },
  { name: 'node --require=', command: ['node', '--require=./lib', 'idle.js'], unpinned: false },
  { name: 'node --import', command: ['node', '--import', './lib.js', 'idle.js'], unpinned: false },
  { name: 'sh -c', command: ['sh', '-c', 'node ./lib'], unpinned: true },
  { name: 'sh -c in another folder', command: ['sh', '-c', 'cd . && exec node lib.js'], unpinned: true },
  {
    name: 'npm run',
    command: ['npm', 'run', '--silent', 'x'],
    files: { 'package.json': '{"scripts": {"x": "node lib.js"}}' },
    unpinned: true,
  },
  { name: 'make', command: ['make', '-s'], files: { Makefile: 'all:\n\t@node lib.js\n' }, unpinned: true },
  { name: 'a required file', command: ['node', 'main.js'], files: { 'main.js': "require('./lib');" }, unpinned: false },
  {
    name: 'an imported file two steps away',
    command: ['node', './main.mjs'],
    files: { 'main.mjs': "import './sub/a.mjs';", 'sub/a.mjs': "import '../lib.js';" },
    unpinned: false,
  },
  {
    name: 'a computed name',
    command: ['node', 'main.js'],
    files: { 'main.js': "const name = ['.', 'lib'].join('/'); require(name);" },
    unpinned: true,
  },
  {
    name: 'a package',
    command: ['node', 'main.js'],
    files: { 'main.js': "require('tea');", 'node_modules/tea/index.js': JS },
    changed: 'node_modules/tea/index.js',
    unpinned: true,
  },
  {
    name: 'a linked script',
    command: ['./run'],
    files: { 'sub/run.js': "#!/usr/bin/env node\nrequire('./lib')", 'sub/lib.js': JS },
    links: { run: 'sub/run.js' },
    changed: 'sub/lib.js',
    unpinned: false,
  },
  {
    name: 'a shebang with env -S',
    command: ['./run'],
    files: { run: '#!/usr/bin/env -S node -r ./lib.js\n' },
    unpinned: false,
  },
  { name: 'env', command: ['env', 'A=1', 'node', 'lib'], unpinned: false },
  { name: 'env -S', command: ['env', '-S', 'node lib'], unpinned: false },
  { name: 'env NODE_OPTIONS', command: ['env', 'NODE_OPTIONS=--require=./lib.js', 'node', 'idle.js'], unpinned: true },
  {
    name: 'a shell script that sources another',
    command: ['sh', 'run.sh'],
    files: { 'run.sh': '. ./lib.sh\n', 'lib.sh': SH },
    changed: 'lib.sh',
    unpinned: true,
  },
  {
    name: 'a module of Python',
    command: ['python3', 'main.py'],
    files: { 'main.py': 'import tea\n', 'tea.py': PY },
    changed: 'tea.py',
    unpinned: true,
  },
  {
    name: 'an interpreter that is not known',
    command: ['perl', 'main.pl'],
    files: {
      'main.pl': 'require "./lib.pl";\n',
      'lib.pl': 'open(F, ">>", "ran.txt"); print F "ONE\\n"; close F; 1;\n',
    },
    changed: 'lib.pl',
    unpinned: true,
  },
  {
    name: 'a wrapper',
    command: ['nice', 'node', 'lib'],
    unpinned: true,
  },
];

const USUAL = [
  'node server',
  'node . by main',
  'node -r',
  'sh -c',
  'npm run',
  'a required file',
  'a package',
  'a shebang with env -S',
];

/** One of each class, where the code that pins is tested with all of them elsewhere. */
export const usualPinForms = pinForms.filter(({ name }) => USUAL.includes(name));

/** Only MCP servers are configured with an environment. */
export const environmentForms: readonly PinForm[] = [
  { name: 'NODE_OPTIONS', command: ['node', 'idle.js'], env: { NODE_OPTIONS: '-r ./lib' }, unpinned: true },
  {
    name: 'BASH_ENV',
    command: ['bash', 'idle.sh'],
    files: { 'idle.sh': ':\n', 'lib.sh': SH },
    changed: 'lib.sh',
    env: { BASH_ENV: './lib.sh' },
    unpinned: true,
  },
  {
    name: 'PYTHONPATH',
    command: ['python3', 'idle.py'],
    files: { 'idle.py': '\n', 'sub/sitecustomize.py': PY },
    changed: 'sub/sitecustomize.py',
    env: { PYTHONPATH: './sub' },
    unpinned: true,
  },
];

/** Writes the form's files into the folder. */
export async function writeForm(folder: string, { files = {}, links = {} }: PinForm): Promise<void> {
  const all = { 'lib.js': JS, 'idle.js': ';', ...files };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
    if (text.startsWith('#!')) await chmod(join(folder, name), 0o755);
  }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, name));
}
