// The properties of object settings, made from the tables of kinds, producers and tools.
import { type Tool } from '../../core/ports/ports.ts';
import { KINDS, SHIPPED_KINDS } from '../../protocol/kinds.ts';
import { LEVELS } from '../../protocol/notification.ts';
import { type PRODUCER_NAMES } from '../../protocol/settings.ts';
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
};

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
            kinds.filter((kind) => kind.source === source).map(({ name, description }) => [name, toggle(description)]),
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
