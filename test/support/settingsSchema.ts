// The settings schema of kinds and tools, generated from the tables in the code and compared with package.json.
import { type Tool } from '../../src/core/ports/ports.ts';
import { KINDS, SHIPPED_KINDS } from '../../src/protocol/kinds.ts';
import { LEVELS } from '../../src/protocol/notification.ts';

const kinds = SHIPPED_KINDS.map((kind) => {
  const [source = '', name = ''] = kind.split('.');
  return { kind, source, name, ...KINDS[kind] };
});
const sources = [...new Set(kinds.map(({ source }) => source))];
const switches = { type: 'boolean' };

/** `properties` of `earshot.notifications.kinds`. */
export function kindProperties(): object {
  return Object.fromEntries(
    sources.map((source) => [
      source,
      {
        type: 'object',
        properties: {
          enable: { type: 'boolean', default: true, description: `Off: nothing of ${source} is told.` },
          ...Object.fromEntries(
            kinds
              .filter((kind) => kind.source === source)
              .map(({ name, description }) => [name, { type: 'boolean', default: true, description }]),
          ),
        },
        additionalProperties: switches,
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

/** `properties` of `earshot.tools`: each tool that can cause notifications, with their names. */
export function toolProperties(tools: readonly Tool[]): object {
  const descriptions = new Map<string, string>(kinds.map(({ kind, description }) => [kind, description]));
  return Object.fromEntries(
    tools
      .filter((tool) => tool.emits.length > 0)
      .map((tool) => [
        tool.description.name,
        {
          type: 'object',
          properties: {
            notifications: {
              type: 'object',
              properties: Object.fromEntries(
                tool.emits.map((name) => [
                  name,
                  { type: 'boolean', default: true, description: descriptions.get(`tool.${name}`) ?? '' },
                ]),
              ),
              additionalProperties: switches,
            },
          },
          additionalProperties: false,
        },
      ]),
  );
}
