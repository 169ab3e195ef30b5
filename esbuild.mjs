// Builds the extension into dist/ (host bundle with lazily loaded chunks, page bundle), with --production into
// .build/package/dist for packaging, and with --tests the suites and all other test code that runs inside the extension
// host into .build/. Flags: --watch, --production, --tests.
import { readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import * as esbuild from 'esbuild';

const flags = new Set(process.argv.slice(2));
const root = import.meta.dirname;
const production = flags.has('--production');
/** A separate folder, so that packaging does not affect running programs of an earlier build. */
const output = production ? '.build/package/dist' : 'dist';

/**
 * Libraries import all of zod, with its error messages in 50 languages: 260 kB that nobody reads.
 *
 * @type {esbuild.Plugin}
 */
const englishZod = {
  name: 'english-zod',
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** @type {esbuild.BuildOptions & { metafile: true }} */
const common = {
  absWorkingDir: root,
  bundle: true,
  minify: production,
  sourcemap: !production,
  legalComments: 'none',
  logLevel: 'info',
  metafile: true,
  target: 'es2023',
  // Otherwise `import { type X }` would stay as an import of the whole module, and lazy chunks would be loaded at once.
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: false } },
  plugins: [englishZod],
};

/** @type {esbuild.BuildOptions & { metafile: true }} */
export const page = {
  ...common,
  entryPoints: {
    chat: 'src/webview/main.tsx',
    web: 'src/webview/web/main.tsx',
    agents: 'src/webview/agents/main.tsx',
  },
  outdir: `${output}/webview`,
  format: 'esm',
  splitting: true,
  chunkNames: '[name]-[hash]',
  platform: 'browser',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.ttf': 'file' },
};

/**
 * Built by itself: chunks that it shared with the chat would make the chat larger.
 *
 * @type {esbuild.BuildOptions & { metafile: true }}
 */
const overview = { ...page, entryPoints: { overview: 'src/webview/overview/main.tsx' } };

/**
 * The supervisor of every command: one small file, because it outlives the window and its extension.
 *
 * @type {esbuild.BuildOptions}
 */
export const programs = {
  ...common,
  entryPoints: { supervisor: 'src/bin/supervisor.ts' },
  outdir: output,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  platform: 'node',
};

/**
 * A program outside the editor runs on the Node that is installed: it is a chunk that is loaded only if its version
 * fits, after what this version lacks was provided.
 *
 * @type {esbuild.Plugin}
 */
const launchers = {
  name: 'launchers',
  setup(build) {
    build.onResolve({ filter: /^(\.\/)?src\/bin\// }, ({ path, kind }) =>
      kind === 'entry-point' ? { path: path.replace(/^\.\//, ''), namespace: 'launch' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'launch' }, ({ path }) => ({
      contents: `import { isNodeSupported } from './src/node/olderNode.ts';\nif (isNodeSupported()) await import('./${path}');`,
      resolveDir: root,
    }));
  },
};

/**
 * Node programs with chunks: the standalone hub, the MCP servers by which other agents join a hub and get
 * notifications, `earshot-ears`, the web chat, the agent for ACP editors, the reader of PDFs, and the first capture of
 * a folder. The code that joins hubs of several machines is a chunk.
 *
 * @type {esbuild.BuildOptions & { metafile: true }}
 */
export const nodePrograms = {
  ...common,
  entryPoints: {
    hub: 'src/bin/hub.ts',
    'hub-mcp': 'src/bin/hubMcp.ts',
    'notifications-mcp': 'src/bin/notificationsMcp.ts',
    webChat: 'src/webchat/main.ts',
    acp: 'src/bin/acp.ts',
    ears: 'src/bin/ears.ts',
    pdfText: 'src/bin/pdfText.ts',
    firstCapture: 'src/bin/firstCapture.ts',
  },
  plugins: [englishZod, launchers],
  outdir: output,
  format: 'esm',
  platform: 'node',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  // CommonJS dependencies call require() for Node's own modules.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
};

/**
 * The host: ES modules, so that a dynamic import becomes a separate chunk that is not read at activation. The Node
 * programs are built with it, since they share most of its chunks.
 *
 * @type {esbuild.BuildOptions & { metafile: true }}
 */
export const host = {
  ...nodePrograms,
  entryPoints: { extension: 'src/vscode/extension.ts', ...nodePrograms.entryPoints },
  external: ['vscode'],
};

/**
 * The hook for other agents, and the program with which scripts send lines: one file each, because copies of them run
 * outside the extension.
 *
 * @type {esbuild.BuildOptions}
 */
export const hook = {
  ...common,
  // Much older versions of Node must get as far as the message that they are too old.
  target: 'node16',
  entryPoints: { 'notifications-hook': 'src/bin/notificationsHook.ts', 'earshot-notify': 'src/bin/notify.ts' },
  outdir: output,
  format: 'esm',
  platform: 'node',
};

/** @type {esbuild.Plugin} */
const virtualTestIndex = {
  name: 'all-suites',
  setup(build) {
    build.onResolve({ filter: /^earshot:suites$/ }, () => ({ path: 'suites', namespace: 'earshot' }));
    build.onLoad({ filter: /.*/, namespace: 'earshot' }, () => {
      const files = readdirSync(`${root}/test/vscode`, { recursive: true, encoding: 'utf8' }).filter((file) =>
        file.endsWith('.vscode.test.ts'),
      );
      const entries = files
        .map((file) => file.replaceAll('\\', '/'))
        .sort()
        .map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(`./test/vscode/${file}`)}),`);
      return { contents: `export const suites = {\n${entries.join('\n')}\n};`, resolveDir: root };
    });
  },
};

/**
 * One file for all suites, and one for each program; mocha stays in node_modules because it loads parts of itself by
 * path.
 *
 * @type {esbuild.BuildOptions}
 */
const suites = {
  ...common,
  entryPoints: {
    index: 'test/vscode/index.ts',
    record: 'test/noise/inside.ts',
    storm: 'test/bench/inside/storm.ts',
    idle: 'test/bench/inside/idle.ts',
    activation: 'test/bench/inside/activation.ts',
  },
  outdir: '.build/vscode-tests',
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  platform: 'node',
  external: ['vscode', 'mocha', 'esbuild'],
  plugins: [englishZod, virtualTestIndex],
};

if (process.argv[1] === import.meta.filename) await run();

async function run() {
  const wanted = flags.has('--tests') ? [suites] : [host, page, overview, programs, hook];
  if (flags.has('--watch')) {
    for (const options of wanted) await (await esbuild.context(options)).watch();
    return;
  }
  await rm(`${root}/${flags.has('--tests') ? '.build/vscode-tests' : output}`, { recursive: true, force: true });
  const built = await Promise.allSettled(wanted.map((options) => esbuild.build({ ...options, logLevel: 'warning' })));
  // esbuild has printed the errors; a stack trace would only hide them.
  if (built.some(({ status }) => status === 'rejected')) process.exitCode = 1;
  else if (production) await writeMetafiles(built.map((one) => (one.status === 'fulfilled' ? one.value.metafile : {})));
}

/**
 * Lists the bundled files, for the collection of their licences.
 *
 * @param {readonly unknown[]} metafiles
 */
async function writeMetafiles(metafiles) {
  await mkdir(`${root}/.build`, { recursive: true });
  await writeFile(`${root}/.build/metafiles.json`, JSON.stringify(metafiles));
}
