// The settings after muting notifications, and after undoing it. Pure.
import { type Mute } from '../../protocol/page/pendingView.ts';
import { type Settings } from '../../protocol/settings.ts';

export type MuteSettings = Pick<Settings, 'notifications.kinds' | 'notifications.ignoredPaths'>;
/** Only the setting that changes. */
export type MuteChange = Partial<MuteSettings>;

export function muteIn(settings: MuteSettings, what: Mute): MuteChange {
  const { 'notifications.kinds': kinds, 'notifications.ignoredPaths': paths } = settings;
  if (what.by === 'path') return { 'notifications.ignoredPaths': [...new Set([...paths, escapeGlob(what.path)])] };
  const { source } = what.kind;
  return { 'notifications.kinds': { ...kinds, [source]: { ...kinds[source], [switchOf(what)]: false } } };
}

/** Undoes one mute in the current settings; what was changed after it stays. `before` are the settings before it. */
export function unmuteIn(settings: MuteSettings, what: Mute, before: MuteSettings): MuteChange {
  if (what.by === 'path') {
    const pattern = escapeGlob(what.path);
    const isKept = (path: string) => path !== pattern || before['notifications.ignoredPaths'].includes(path);
    return { 'notifications.ignoredPaths': settings['notifications.ignoredPaths'].filter(isKept) };
  }
  const { source } = what.kind;
  const { [source]: switches, ...otherSources } = settings['notifications.kinds'];
  const { [switchOf(what)]: _muted, ...otherSwitches } = switches ?? {};
  const value = before['notifications.kinds'][source]?.[switchOf(what)];
  const restored = { ...otherSwitches, ...(value !== undefined && { [switchOf(what)]: value }) };
  const isEmpty = Object.keys(restored).length === 0 && before['notifications.kinds'][source] === undefined;
  return { 'notifications.kinds': { ...otherSources, ...(!isEmpty && { [source]: restored }) } };
}

function switchOf(what: Exclude<Mute, { by: 'path' }>): string {
  return what.by === 'source' ? 'enable' : what.kind.name;
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}!\\]/g, '\\$&');
}
