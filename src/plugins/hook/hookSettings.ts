// Adds Earshot's hook to the text of an agent's settings file, or removes it. Comments and other hooks stay unchanged.
import { fieldOf } from '../../base/json/outsideJson.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import {
  addItem,
  addMember,
  type JsoncNode,
  jsoncValue,
  parseJsoncTree,
  removePart,
} from '../../base/json/jsoncTree.ts';
import { type HookEntries } from './hookTargets.ts';

/** Identifies Earshot's hook, independent of its folder and options. */
const MARK = 'notifications-hook';

type ObjectNode = Extract<JsoncNode, { type: 'object' }>;
type ArrayNode = Extract<JsoncNode, { type: 'array' }>;

/** The text with the hook; unchanged if it has the hook already. A failure says what is wrong with the text. */
export function withHook(text: string, { events, version }: HookEntries): Result<string> {
  return orUnreadable(() => {
    let changed = text.trim() === '' ? '{}\n' : text;
    if (version !== undefined && !rootOf(changed).members.some(({ key }) => key === 'version')) {
      changed = addMember(changed, rootOf(changed), 'version', version);
    }
    for (const event of eventsIn(changed)) {
      // An earlier version of the hook was installed for this event.
      if (!Object.hasOwn(events, event)) changed = withoutEvent(changed, event);
    }
    for (const [event, items] of Object.entries(events)) {
      if (JSON.stringify(ownItems(changed, event)) === JSON.stringify(items)) continue;
      // The hook is missing, of another version, or there more than once.
      changed = withoutEvent(changed, event);
      changed = ensure(changed, event);
      for (const item of items) changed = addItem(changed, arrayOf(changed, event), item);
    }
    return changed;
  });
}

/** The text without the hook, and without lists and objects that become empty. */
export function withoutHook(text: string): Result<string> {
  return orUnreadable(() => {
    if (text.trim() === '' || !text.includes(MARK)) return text;
    let changed = text;
    for (const event of eventsIn(changed)) {
      changed = withoutEvent(changed, event);
      const hooks = hooksOf(changed);
      const index = hooks?.members.findIndex(({ key }) => key === event) ?? -1;
      const value = hooks?.members[index]?.value;
      if (hooks !== undefined && value?.type === 'array' && value.items.length === 0) {
        changed = removePart(changed, hooks, index);
      }
    }
    const root = rootOf(changed);
    const index = root.members.findIndex(({ key }) => key === 'hooks');
    const hooks = root.members[index]?.value;
    return hooks?.type === 'object' && hooks.members.length === 0 ? removePart(changed, root, index) : changed;
  });
}

function eventsIn(text: string): readonly string[] {
  const hooks = hooksOf(text)?.members ?? [];
  return hooks.filter(({ value }) => value.type === 'array').map(({ key }) => key);
}

/** Whether a settings file has the hook. */
export function hasHook(text: string): boolean {
  return text.includes(MARK);
}

function orUnreadable(change: () => string): Result<string> {
  try {
    return succeeded(change());
  } catch (error) {
    return failed('refused', describeError(error));
  }
}

function rootOf(text: string): ObjectNode {
  const root = parseJsoncTree(text);
  if (root.type !== 'object') throw new Error('it holds no JSON object');
  return root;
}

function hooksOf(text: string): ObjectNode | undefined {
  const hooks = rootOf(text).members.find(({ key }) => key === 'hooks')?.value;
  if (hooks === undefined) return undefined;
  if (hooks.type !== 'object') throw new Error('its “hooks” are no JSON object');
  return hooks;
}

function eventOf(text: string, event: string): ArrayNode | undefined {
  const found = hooksOf(text)?.members.find(({ key }) => key === event)?.value;
  if (found === undefined) return undefined;
  if (found.type !== 'array') throw new Error(`“hooks.${event}” is no list`);
  return found;
}

function arrayOf(text: string, event: string): ArrayNode {
  const found = eventOf(text, event);
  if (found === undefined) throw new Error(`“hooks.${event}” is missing`);
  return found;
}

/** Adds `hooks` and an empty list for this event if they are missing. */
function ensure(text: string, event: string): string {
  const rooted = hooksOf(text) === undefined ? addMember(text, rootOf(text), 'hooks', {}) : text;
  const hooks = hooksOf(rooted);
  if (hooks === undefined || eventOf(rooted, event) !== undefined) return rooted;
  return addMember(rooted, hooks, event, []);
}

/** Groups and commands of this event that contain Earshot's command. */
function ownItems(text: string, event: string): readonly unknown[] {
  return (eventOf(text, event)?.items ?? []).map(jsoncValue).filter(isOwn);
}

function withoutEvent(text: string, event: string): string {
  const list = eventOf(text, event);
  const index = list?.items.findLastIndex((item) => isOwn(jsoncValue(item))) ?? -1;
  const item = list?.items[index];
  if (list === undefined || item === undefined) return text;
  const inner = item.type === 'object' ? item.members.find(({ key }) => key === 'hooks')?.value : undefined;
  if (inner?.type === 'array' && inner.items.length > 1) {
    // The user has added other commands to the same group.
    const own = inner.items.findLastIndex((one) => isOwn(jsoncValue(one)));
    return withoutEvent(removePart(text, inner, own), event);
  }
  return withoutEvent(removePart(text, list, index), event);
}

function isOwn(item: unknown): boolean {
  const hooks = fieldOf(item, 'hooks');
  return isOwnCommand(item) || (Array.isArray(hooks) && hooks.some(isOwnCommand));
}

function isOwnCommand(item: unknown): boolean {
  const command = fieldOf(item, 'command');
  return typeof command === 'string' && command.includes(MARK);
}
