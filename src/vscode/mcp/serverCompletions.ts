// Entries of the chat's pickers that come from MCP servers: resources for `@`, prompts for `/`.
import { type Failure } from '../../base/errors.ts';
import { type ReadResource } from '../../mcp/resources/readResource.ts';
import { type OfServer, type ServerResources } from '../../mcp/resources/serverResources.ts';
import { bestMatches, type Completion, type CompletionSource } from '../completions/completions.ts';

const MOST_OF_A_KIND = 15;
const MOST_DETAIL = 200;
const MOST_VALUES = 20;

export interface AskedValue {
  /** What the value is for. */
  readonly title: string;
  readonly name: string;
  readonly about: string;
  readonly required: boolean;
}

export interface ServerSourcesDeps {
  /** Undefined: no server is configured. */
  resources(): ServerResources | undefined;
  attachResource(resource: ReadResource): Promise<void>;
  /** Puts text into the composer: the user reads what a server wrote before it is sent. */
  insert(text: string): Promise<void>;
  showFailure(failure: Failure): void;
  /** Undefined: the user cancelled. */
  ask(value: AskedValue): Promise<string | undefined>;
}

export function serverSources(deps: ServerSourcesDeps): readonly CompletionSource[] {
  return [resourceSource(deps), promptSource(deps)];
}

function resourceSource({ resources, attachResource, showFailure, ask }: ServerSourcesDeps): CompletionSource {
  return {
    name: 'mcp resources',
    trigger: '@',
    list: async (query) => {
      const all = (await resources()?.listResources()) ?? [];
      const textOf = ({ server, item }: (typeof all)[number]) => `${server} ${item.title ?? item.name} ${item.uri}`;
      return bestMatches(query, all, textOf, MOST_OF_A_KIND).map((one) =>
        entryOf(one, one.item.uri, one.item.title ?? one.item.name, one.item.uri, 'tools'),
      );
    },
    choose: async (id) => {
      const [server, uri] = parseId(id);
      const known = (await resources()?.listResources())?.find((one) => one.server === server && one.item.uri === uri);
      const names = known?.item.variables?.map((name) => ({ name, about: '', required: true }));
      const values = names && (await askAll(ask, `${server}: ${known?.item.title ?? known?.item.name ?? uri}`, names));
      if (names !== undefined && values === undefined) return;
      const read = await resources()?.read(server, uri, values);
      if (read?.ok === true) await attachResource(read.value);
      else if (read !== undefined) showFailure(read.failure);
    },
  };
}

function promptSource({ resources, insert, showFailure, ask }: ServerSourcesDeps): CompletionSource {
  const list = async () => (await resources()?.listPrompts()) ?? [];
  return {
    name: 'mcp prompts',
    trigger: '/',
    list: async (query) => {
      const all = await list();
      const wanted = query.toLowerCase();
      const matching = all.filter(({ server, item }) =>
        [item.name, `${server}:${item.name}`].some((name) => name.toLowerCase().startsWith(wanted)),
      );
      return matching.slice(0, MOST_OF_A_KIND).map((one) => {
        const about = one.item.description ?? one.item.title ?? '';
        return entryOf(one, one.item.name, `/${one.server}:${one.item.name}`, about, 'play');
      });
    },
    choose: async (id) => {
      const [server, name] = parseId(id);
      const prompt = (await list()).find((one) => one.server === server && one.item.name === name)?.item;
      const asked = (prompt?.arguments ?? []).map(({ description = '', ...one }) => ({ ...one, about: description }));
      const values = await askAll(ask, `/${server}:${name}`, asked);
      if (values === undefined) return;
      const got = await resources()?.prompt(server, name, values);
      if (got?.ok === true) await insert(got.value);
      else if (got !== undefined) showFailure(got.failure);
    },
  };
}

/** Undefined: the user cancelled. An optional value that is empty is left out. */
async function askAll(
  ask: ServerSourcesDeps['ask'],
  title: string,
  values: readonly Omit<AskedValue, 'title'>[],
): Promise<Readonly<Record<string, string>> | undefined> {
  const given: Record<string, string> = {};
  for (const value of values.slice(0, MOST_VALUES)) {
    const answer = await ask({ title, ...value });
    if (answer === undefined) return undefined;
    if (answer !== '' || value.required) given[value.name] = answer;
  }
  return given;
}

function entryOf(
  { server }: OfServer<unknown>,
  name: string,
  label: string,
  about: string,
  icon: Completion['icon'],
): Completion {
  const detail = [server, about.replace(/\s+/g, ' ')].filter((part) => part !== '').join(' · ');
  return {
    id: JSON.stringify([server, name]),
    label: label.slice(0, MOST_DETAIL),
    detail: detail.slice(0, MOST_DETAIL),
    icon,
  };
}

function parseId(id: string): readonly [string, string] {
  const [server, name] = JSON.parse(id) as unknown[];
  return [String(server), String(name)];
}
