// The properties of object settings, made from the tables of kinds, producers and tools.
import * as z from 'zod';
import { MODEL_APIS } from '../../protocol/event.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { HOOK_EVENTS } from '../../protocol/outside/hooks.ts';
import { KINDS, SHIPPED_KINDS } from '../../protocol/kinds.ts';
import { LEVELS } from '../../protocol/notification.ts';
import { type PRODUCER_NAMES, type SettingName, settingSchemas } from '../../protocol/settings.ts';
import { runCommandTool } from '../../tools/commands/runCommand.ts';

const kinds = SHIPPED_KINDS.map((kind) => {
  const [source = '', name = ''] = kind.split('.');
  return { kind, source, name, ...KINDS[kind] };
});
const sources = [...new Set(kinds.map(({ source }) => source))];

/** The tools that can cause notifications. */
const NOTIFYING_TOOLS: readonly Tool[] = [runCommandTool];

const PRODUCERS: Readonly<Record<(typeof PRODUCER_NAMES)[number], string>> = {
  files: 'Files on disk: files that the model has seen or watches, and the number of other changed files.',
  git: 'Branches, commits, stashes and merges of the repositories in the workspace.',
  editor: 'Unsaved changes and renames in the editor.',
  diagnostics: 'Problems reported by language servers.',
  tasks: 'Tasks of VS Code.',
  terminals: 'Commands that fail in terminals.',
  handles: 'Background commands of the model.',
  mcp: 'Connections, tools, resources and messages of MCP servers.',
  budget: 'Usage of the context window, and rate limits of the endpoint.',
  config: 'Model, tools, mode and instruction files.',
  messages: 'Messages of other agents on the hub.',
  wakes: 'Timers and conditions of the model.',
  lines: 'Lines that the model waits for, of its background commands and of files that grow.',
  scripts: 'Lines that scripts send with earshot-notify.',
  focus: 'The active editor and its selection.',
  forge: 'CI, reviews and pull requests of commits that a conversation pushed.',
  debug: 'Exceptions, stops and ends of debugged programs.',
  ports: 'Ports on which background commands listen.',
  tests: 'Test reports that `earshot.tests.reports` names.',
  notebooks: 'Cells of notebooks that fail.',
  dependencies: 'Packages of lock files.',
  devservers: 'Dev servers (Vite, webpack, Next.js) of background commands.',
};

/** One entry of `earshot.plugins.programs`. */
export const PROVIDER = {
  type: 'object',
  required: ['baseUrl'],
  properties: {
    name: { type: 'string', description: 'The name to show.' },
    api: {
      type: 'string',
      enum: [...MODEL_APIS],
      description: 'The API that it serves; without it Earshot chooses by the host.',
    },
    baseUrl: { type: 'string', description: 'Its address, which usually ends in /v1.' },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Headers that are sent with every request to this provider, and to no other.',
    },
    models: {
      type: 'array',
      items: { type: 'string' },
      description: 'Models to offer, if the provider does not list them.',
    },
  },
  additionalProperties: false,
};

export const PROGRAM = {
  type: 'object',
  required: ['command'],
  properties: {
    command: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'The program and its arguments.' },
    run: {
      type: 'string',
      enum: ['ask', 'allow', 'deny'],
      default: 'ask',
      description: 'Whether it may run. allow counts only in user settings.',
    },
    start: {
      type: 'string',
      enum: ['manual', 'window'],
      default: 'manual',
      description: 'When it starts. window counts only in user settings.',
    },
    options: { type: 'object', default: {}, description: 'Passed to the program.' },
    approve: {
      type: 'boolean',
      default: false,
      description: 'Whether it may answer approvals and questions. true counts only in user settings.',
    },
  },
  additionalProperties: false,
};

/** The hooks of one event in `earshot.hooks`. */
const HOOKS_OF_EVENT = {
  type: 'array',
  items: {
    type: 'object',
    required: ['command'],
    properties: {
      command: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'The program and its arguments.' },
      matcher: {
        type: 'string',
        description: 'Names of tools, with | between them and * for any characters. Absent: all tools.',
      },
      timeout: { type: 'integer', minimum: 1, maximum: 600, default: 60, description: 'Seconds.' },
    },
    additionalProperties: false,
  },
};

/** `properties` of `earshot.hooks`. */
export function hookProperties(): object {
  return Object.fromEntries(HOOK_EVENTS.map((event) => [event, HOOKS_OF_EVENT]));
}

/** `properties` of `earshot.notifications.kinds`. */
export function kindProperties(): object {
  return Object.fromEntries(
    sources.map((source) => [
      source,
      {
        type: 'object',
        properties: {
          enable: toggle(`Off: no ${source} notifications are delivered.`),
          ...Object.fromEntries(
            kinds
              .filter((kind) => kind.source === source && kind.name !== '*')
              .map(({ name, description }) => [name, toggle(description)]),
          ),
        },
        additionalProperties: { type: 'boolean' },
      },
    ]),
  );
}

/** `properties` of `earshot.notifications.levels`. */
export function levelProperties(): object {
  return Object.fromEntries(
    kinds.map(({ kind, level, description }) => [
      kind,
      { type: 'string', enum: [...LEVELS], default: level, description },
    ]),
  );
}

/** `properties` of `earshot.notifications.producers`. */
export function producerProperties(): object {
  return Object.fromEntries(Object.entries(PRODUCERS).map(([name, description]) => [name, toggle(description)]));
}

/** `properties` of `earshot.tools`. */
export function toolProperties(): object {
  return Object.fromEntries(
    NOTIFYING_TOOLS.map((tool) => [
      tool.description.name,
      {
        type: 'object',
        properties: {
          notifications: {
            type: 'object',
            properties: Object.fromEntries(tool.emits.map((name) => [name, toggle(describeToolKind(name))])),
            additionalProperties: { type: 'boolean' },
          },
        },
        additionalProperties: false,
      },
    ]),
  );
}

function describeToolKind(name: string): string {
  return kinds.find(({ kind }) => kind === `tool.${name}`)?.description ?? '';
}

function toggle(description: string): object {
  return { type: 'boolean', default: true, description };
}

/** What each way to ask a forge means. */
export const FORGE_WAYS = [
  'Ask when a conversation has pushed a commit for the first time.',
  'Off. Nothing is asked.',
  'With the GitHub CLI (`gh`) or the GitLab CLI (`glab`) that you are signed in to.',
  'With the GitHub account of VS Code, for github.com. GitLab needs `glab`.',
];

/** JSON Schema as VS Code understands it. */
export function schemaOf(name: SettingName): object {
  const {
    $schema: _,
    anyOf: __,
    ...schema
  } = z.toJSONSchema(settingSchemas[name], {
    io: 'input',
    override: ({ jsonSchema }) => {
      // A fixed set of names is contributed as `properties` instead.
      if (jsonSchema.propertyNames !== undefined && typeof jsonSchema.propertyNames === 'object') {
        if (jsonSchema.propertyNames.enum !== undefined) jsonSchema.additionalProperties = false;
        delete jsonSchema.propertyNames;
      }
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}
