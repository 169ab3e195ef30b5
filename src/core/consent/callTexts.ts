// What of a call's arguments may come from elsewhere: its strings, and in them the commands, addresses and paths outside
// the workspace, which count also if they are short.
import { wholeCharacters } from '../../base/text.ts';
import { type TextOrigin, type TextSource } from '../../protocol/page/textOrigin.ts';
import { type Touched } from '../ports/ports.ts';
import { type Workspace } from '../ports/workspace.ts';
import { pathsIn } from './commandLine.ts';
import { type ShellSyntax } from './shell/script.ts';

export interface NamedText {
  readonly text: string;
  readonly kind: Exclude<TextOrigin['kind'], 'text'>;
  /** The whole text of which it is a part: where that is known, the part is known too. */
  readonly whole?: string;
}

/** More of each kind are not looked for; of addresses, with what is looked for of each. */
const MOST_NAMES = 100;
const MOST_OF_ADDRESSES = 1000;
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()[\]{}|\\^]{1,4000}/gi;
const MAILBOX = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?::[^\s"'`<>]{1,500})?/g;
const END_OF_SENTENCE = /[.,:;!?*_~]{1,8}$/;
/** They run another program, which their next word names. */
const RUNNERS: ReadonlySet<string> = new Set(
  'sudo doas env exec time nohup nice xargs npx bunx pnpx uvx pipx dlx run call command start'.split(' '),
);
/** Everybody uses these, so that a page names them says nothing. */
const EVERYDAY: ReadonlySet<string> = new Set(
  (
    'ant apt awk base64 bash brew bun bundle cargo cat cd chmod chown clang cmake cmd composer cp curl cut date deno diff ' +
    'docker dotnet echo eslint export false find gcc gem gh git go gradle grep head jest jq kill less ln ls make mkdir mv ' +
    'mvn mypy ninja node npm perl php pip pip3 pnpm poetry powershell prettier printf ps pwd pwsh pytest python python3 rails ' +
    'rake rg rm rmdir ruby ruff rustc rustup sed set sh sleep sort source ssh svn swift tail tar task tee test touch tox ' +
    'true tsc tsx uniq uv vitest wc wget which xcodebuild yarn zip unzip zsh'
  ).split(' '),
);
/** They print what other machines send, or reach the machine that their words name. */
const NETWORK_PROGRAMS: ReadonlySet<string> = new Set(
  'curl wget gh glab http https lynx w3m ssh scp sftp rsync telnet nc ncat ftp ping dig nslookup host'.split(' '),
);
/** A shorter command line of everyday words says nothing. */
const SHORTEST_COMMAND = 12;
const FEWEST_WORDS = 3;
const LONGEST_COMMAND = 200;

/** All strings of a JSON value, in their order. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Addresses, each also without what a call may have added to it. */
export function addressesIn(strings: readonly string[]): NamedText[] {
  const found = new Set<string>();
  for (const text of strings) {
    for (const pattern of [ADDRESS, MAILBOX]) {
      for (const [match] of text.matchAll(pattern)) {
        if (found.size < MOST_OF_ADDRESSES) found.add(match.replace(END_OF_SENTENCE, ''));
      }
    }
  }
  const all = [...found];
  // What each was before something was added to it comes after all of them.
  const beginnings = all.flatMap((whole) =>
    beginningsOf(whole).flatMap((text): NamedText[] => (text === whole ? [] : [{ text, kind: 'address', whole }])),
  );
  return [...all.map((text): NamedText => ({ text, kind: 'address' })), ...beginnings].slice(0, MOST_OF_ADDRESSES);
}

/** A page may name an address to which secrets are to be added. */
function beginningsOf(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null || url.host === '') return [address];
  const query = address.indexOf('?');
  const values = query === -1 ? [] : [query, address.indexOf('=', query), address.lastIndexOf('=')];
  const cut = values.filter((at) => at !== -1).map((at) => address.slice(0, at + 1));
  const bare = url.pathname === '/' || url.pathname === '' ? [url.host] : [];
  const origin = `${url.protocol}//${url.host}`;
  const beginnings = [address, address.split('#', 1)[0] ?? '', ...cut, ...cut.map((one) => one.slice(0, -1)), origin];
  return [...new Set([...beginnings, ...bare])].filter((one) => one !== '');
}

/** The commands of a line, and the names of programs that not everybody uses. */
export function commandsIn(line: string): NamedText[] {
  const found = new Map<string, NamedText>();
  const add = (text: string, kind: NamedText['kind'] = 'command') => {
    if (found.size < MOST_NAMES && text !== '') found.set(text, { text, kind });
  };
  for (const segment of line.split(/[;&|\n(){}`]+/)) {
    const command = segment.trim();
    const words = command.split(/\s+/).map((word) => word.replace(/^["']|["']$/g, ''));
    const rest = afterRunners(words);
    const [name = '', ...others] = rest;
    if (words.length >= FEWEST_WORDS || (words.length > 1 && command.length >= SHORTEST_COMMAND)) add(command);
    if (/^[\w@][\w@.+-]*(?:\/[\w.+-]+)?$/.test(name) && !EVERYDAY.has(name) && !RUNNERS.has(name)) add(name);
    if (!NETWORK_PROGRAMS.has(name)) continue;
    for (const word of others) {
      const [host] = /^[\w-]+(?:\.[\w-]+)+(?=[:/]|$)/.exec(word) ?? [];
      if (host === undefined) continue;
      add(word, 'address');
      add(host, 'address');
    }
  }
  return [...found.values()];
}

function afterRunners(words: readonly string[]): readonly string[] {
  let at = 0;
  while (at < words.length - 1) {
    const word = words[at] ?? '';
    const isRunner =
      RUNNERS.has(word) || (/^(?:npm|pnpm|yarn|bun)$/.test(word) && /^(?:dlx|exec|x)$/.test(words[at + 1] ?? ''));
    if (!isRunner && !/^\w+=/.test(word) && !(at > 0 && /^(?:-|dlx$|exec$|x$)/.test(word))) break;
    at += 1;
  }
  return words.slice(at);
}

/** Where the result of a permitted call comes from, if that is outside. `letIn`: paths that the user let it open. */
export async function sourceOf(
  workspace: Workspace,
  { command }: Touched,
  letIn: readonly string[],
): Promise<(Pick<TextSource, 'type' | 'name'> & { readonly type: 'file' | 'command' }) | undefined> {
  if (command !== undefined && readsNetwork(command)) {
    return { type: 'command', name: wholeCharacters(command, LONGEST_COMMAND) };
  }
  for (const path of letIn) if (await leadsOutside(workspace, path)) return { type: 'file', name: path };
  return undefined;
}

/** Whether the output of a command line may be text of other machines. */
function readsNetwork(line: string): boolean {
  if (line.search(ADDRESS) !== -1) return true;
  return line.split(/[;&|\n(){}`]+/).some((segment) => {
    const [name = ''] = afterRunners(segment.trim().split(/\s+/));
    return NETWORK_PROGRAMS.has(name);
  });
}

export interface CallPaths {
  readonly outside: readonly NamedText[];
  /** As the arguments have them. */
  readonly inside: readonly string[];
}

/** The paths that the call names, by where they lead. */
export async function pathsOf(
  workspace: Workspace,
  { paths = [], command, input }: Touched,
  strings: readonly string[],
  shell: ShellSyntax,
): Promise<CallPaths> {
  const lines = [command, input].filter((line) => line !== undefined);
  const absolute = strings.filter((text) => /^(?:[/~\\]|[A-Za-z]:[\\/])[^\n]{1,4000}$/.test(text));
  const named = [...paths, ...absolute, ...lines.flatMap((line) => pathsIn(line, shell).paths)];
  const outside: NamedText[] = [];
  const inside: string[] = [];
  for (const path of [...new Set(named)].slice(0, MOST_NAMES)) {
    if (await leadsOutside(workspace, path)) outside.push({ text: path, kind: 'path' });
    else if (path.includes('/') || path.includes('\\') || path.includes('.')) inside.push(path);
  }
  return { outside, inside };
}

async function leadsOutside(workspace: Workspace, path: string): Promise<boolean> {
  if (path.startsWith('~')) return true;
  const file = await workspace.resolve(path);
  return !file.ok && file.failure.code === 'outside';
}
