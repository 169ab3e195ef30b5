// Reads which repositories of a forge the remotes of a local repository name. Pure.

export interface Remote {
  readonly name: string;
  readonly host: string;
  /** `owner/name`; on GitLab there may be more parts. */
  readonly path: string;
  readonly forge: 'github' | 'gitlab';
}

const SECTION = /^\s*\[([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const ENTRY = /^\s*([A-Za-z][\w-]*)\s*=(.*)$/;
/** Lines of a configuration that are read. */
const MOST_LINES = 20_000;
/** Git's files are read for each of them. */
const MOST_REMOTES = 20;

interface ConfigEntry {
  readonly section: string;
  readonly name: string;
  readonly key: string;
  readonly value: string;
}

function* entriesOf(config: string): Generator<ConfigEntry> {
  let [section, name] = ['', ''];
  for (const line of config.split('\n', MOST_LINES)) {
    const head = SECTION.exec(line);
    if (head !== null) {
      section = (head[1] ?? '').toLowerCase();
      name = (head[2] ?? '').replace(/\\(.)/g, '$1');
      continue;
    }
    const [, key, value = ''] = ENTRY.exec(line) ?? [];
    if (key !== undefined) yield { section, name, key: key.toLowerCase(), value: value.trim() };
  }
}

/** A repository on a forge. */
export type Place = Omit<Remote, 'name'>;

/** The remotes on a forge. `hosts`: hosts of forges whose names do not show it. */
export function readRemotes(config: string, hosts: ForgeHosts = {}): Remote[] {
  const urls = new Map<string, string>();
  for (const { section, name, key, value } of entriesOf(config)) {
    if (section !== 'remote' || name === '') continue;
    // What is pushed to counts.
    if (key === 'pushurl' || (key === 'url' && !urls.has(name))) urls.set(name, value);
  }
  const found = [...urls].flatMap(([name, url]) => {
    const place = parseRemoteUrl(url);
    const forge = place && forgeOf(place.host, hosts);
    return place === undefined || forge === undefined ? [] : [{ name, ...place, forge }];
  });
  return found.slice(0, MOST_REMOTES);
}

/** The remote and the branch there that the branch follows; undefined: it follows none. */
export function readUpstream(config: string, branch: string): { remote: string; branch: string } | undefined {
  let [remote, merge] = ['', ''];
  for (const { section, name, key, value } of entriesOf(config)) {
    if (section !== 'branch' || name !== branch) continue;
    if (key === 'remote') remote = value;
    if (key === 'merge') merge = value;
  }
  return remote === '' || !merge.startsWith('refs/heads/')
    ? undefined
    : { remote, branch: merge.slice('refs/heads/'.length) };
}

export function forgeHosts(env: NodeJS.ProcessEnv): ForgeHosts {
  return { github: hostIn(env['GH_HOST']), gitlab: hostIn(env['GITLAB_HOST'] ?? env['GITLAB_URI'] ?? env['GL_HOST']) };
}

/** `glab` also takes an address. */
function hostIn(value: string | undefined): string | undefined {
  return /^(?:https?:\/\/)?([A-Za-z\d.-]{1,253})/.exec(value ?? '')?.[1]?.toLowerCase();
}

interface ForgeHosts {
  /** The hosts that `GH_HOST` and those of `glab` name. */
  readonly github?: string | undefined;
  readonly gitlab?: string | undefined;
}

/** Programs and tokens are used only for a host that is known or named as such: anybody could have written the URL. */
export function forgeOf(host: string, { github, gitlab }: ForgeHosts): Remote['forge'] | undefined {
  if (host === github || /(?:^|[.-])github\.|\.ghe\.com$/.test(host)) return 'github';
  return host === gitlab || /(?:^|[.-])gitlab\./.test(host) ? 'gitlab' : undefined;
}

const WITH_SCHEME = /^(?:https?|ssh|git|git\+ssh):\/\/(?:[^@/]{0,200}@)?([A-Za-z\d.-]{1,253})(?::\d{1,5})?\/(.+)$/;
const LIKE_SCP = /^(?:[\w.-]{1,100}@)?([A-Za-z\d.-]{1,253}):(?!\/\/)(.+)$/;
const PART = /^[\w.-]{1,200}$/;

function parseRemoteUrl(url: string): { host: string; path: string } | undefined {
  if (url.length > 1000) return undefined;
  const [, named, rest] = WITH_SCHEME.exec(url) ?? LIKE_SCP.exec(url) ?? [];
  if (named === undefined || rest === undefined) return undefined;
  const parts = rest.split('/').filter((part) => part !== '');
  parts.push(parts.pop()?.replace(/\.git$/, '') ?? '');
  if (parts.length < 2 || parts.length > 20 || !parts.every((part) => PART.test(part) && !/^\.+$/.test(part)))
    return undefined;
  const host = named.toLowerCase();
  return { host: host === 'ssh.github.com' ? 'github.com' : host, path: parts.join('/') };
}
