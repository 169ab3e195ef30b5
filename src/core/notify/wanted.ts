// Applies the settings to a notification: whether it is shown, and its level. Filtered notifications stay in the log.
import { anyOf } from '../../protocol/kinds.ts';
import { type Level, type Notification, printKind } from '../../protocol/notification.ts';
import { nameInScope } from '../../protocol/scopes.ts';
import { type Settings } from '../../protocol/settings.ts';
import { matchesAny } from '../files/globs.ts';

export function isWanted(notification: Notification, settings: Settings): boolean {
  if (!settings['notifications.enable']) return false;
  const { kind } = notification;
  const switches = settings['notifications.kinds'][kind.source];
  if (switches?.['enable'] === false || switches?.[kind.name] === false) return false;
  return !isMutedForTool(notification, settings) && !isOfIgnoredPath(notification, settings);
}

export function levelOf({ kind, level }: Notification, settings: Settings): Level {
  const levels = settings['notifications.levels'];
  return levels[printKind(kind)] ?? levels[anyOf(kind.source)] ?? level;
}

/** `data.tool` names the tool that a `tool.*` notification comes from. */
function isMutedForTool({ kind, data }: Notification, settings: Settings): boolean {
  const tool = data?.['tool'];
  if (kind.source !== 'tool' || typeof tool !== 'string') return false;
  return settings.tools[tool]?.notifications?.[kind.name] === false;
}

const ABOUT_FILES: ReadonlySet<string> = new Set(['file', 'diagnostics']);

/** True only if all files of the notification are ignored. */
function isOfIgnoredPath({ kind, subject, scopes }: Notification, settings: Settings): boolean {
  const ignored = settings['notifications.ignoredPaths'];
  if (ignored.length === 0 || !ABOUT_FILES.has(kind.source)) return false;
  const paths = [...(subject === undefined ? [] : [subject]), ...(scopes ?? [])].flatMap(
    (scope) => nameInScope('file', scope) ?? [],
  );
  return paths.length > 0 && paths.every((path) => matchesAny(ignored, path));
}
