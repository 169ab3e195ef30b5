// Reads what dev servers say to pages that are connected for hot updates: Vite, webpack and Next. Nothing about the
// messages is assumed.
import { fieldOf, listOf, parseJson, textOf } from '../../base/json/outsideJson.ts';

export type ServerKind = 'vite' | 'webpack' | 'next';

/** What a message says about the build; undefined: nothing. */
export type BuildState = { readonly ok: true } | { readonly ok: false; readonly errors: readonly string[] };

const MOST_ERRORS = 20;
const LONGEST_ERROR = 4000;
const OK: BuildState = { ok: true };

/** By the command lines of a background command and of the process that listens. Undefined: no known dev server. */
export function serverKindOf(commands: readonly string[]): ServerKind | undefined {
  const words = commands.flatMap((command) => command.slice(0, LONGEST_ERROR).split(/\s+/));
  const programs = words.map((word) => word.split(/[/\\]/).at(-1) ?? '');
  const has = (...names: readonly string[]) => programs.some((one) => names.includes(one));
  if (has('vite', 'vite.js') && !has('preview', 'build')) return 'vite';
  if (has('webpack-dev-server', 'webpack-dev-server.js')) return 'webpack';
  if (has('webpack', 'webpack.js', 'webpack-cli') && has('serve', 'server', 's')) return 'webpack';
  return has('next-server') || (has('next', 'next.js') && has('dev')) ? 'next' : undefined;
}

export function readServerMessage(kind: ServerKind, text: string): BuildState | undefined {
  const message = parseJson(text);
  const type = fieldOf(message, 'type') ?? fieldOf(message, 'action');
  if (kind === 'vite') return readVite(type, message);
  return kind === 'webpack' ? readWebpack(type, message) : readNext(type, message);
}

function readVite(type: unknown, message: unknown): BuildState | undefined {
  if (type === 'update' || type === 'full-reload') return OK;
  if (type !== 'error') return undefined;
  const err = fieldOf(message, 'err');
  return failed([
    [placeOf(fieldOf(err, 'loc')), textOf(err, 'message', LONGEST_ERROR)].filter((part) => part !== '').join(' '),
  ]);
}

function readWebpack(type: unknown, message: unknown): BuildState | undefined {
  if (type === 'ok' || type === 'still-ok' || type === 'warnings') return OK;
  return type === 'errors' ? failed(listOf(message, 'data', MOST_ERRORS).map(printError)) : undefined;
}

function readNext(type: unknown, message: unknown): BuildState | undefined {
  const json = textOf(message, 'errorJSON', LONGEST_ERROR);
  if (type === 'serverError') return failed([printError(parseJson(json) ?? json)]);
  if (type !== 'sync' && type !== 'built') return undefined;
  const errors = listOf(message, 'errors', MOST_ERRORS).map(printError);
  return errors.length === 0 ? OK : failed(errors);
}

function failed(errors: readonly string[]): BuildState {
  const said = errors.filter((error) => error !== '');
  return { ok: false, errors: said.length === 0 ? ['no text'] : said };
}

function printError(error: unknown): string {
  if (typeof error === 'string') return error.slice(0, LONGEST_ERROR);
  const where = [textOf(error, 'moduleName', LONGEST_ERROR), textOf(error, 'loc', LONGEST_ERROR)]
    .filter((part) => part !== '')
    .join(':');
  return [where, textOf(error, 'message', LONGEST_ERROR)].filter((part) => part !== '').join(' ');
}

function placeOf(loc: unknown): string {
  const file = textOf(loc, 'file', LONGEST_ERROR);
  const [line, column] = [fieldOf(loc, 'line'), fieldOf(loc, 'column')];
  return file === '' || typeof line !== 'number' ? file : `${file}:${line}:${typeof column === 'number' ? column : 0}`;
}
