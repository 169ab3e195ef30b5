// The table of the overview: what became of each kind of notification, and which kinds could be muted. Pure.
import { type Kind, printKind } from '../../protocol/notification.ts';
import { type KindRow, type KindUse, type UseScope, type UseTable } from '../../protocol/page/overviewView.ts';
import { type MuteSettings } from './mutedSettings.ts';

/** So many must have been delivered before muting is offered. */
const ENOUGH = 20;

interface TableInput {
  readonly scope: UseScope;
  readonly conversations: number;
  readonly kinds: readonly KindUse[];
  readonly settings: Pick<MuteSettings, 'notifications.kinds'>;
  /** The kinds whose muting can be undone, as `source.name`. */
  readonly undoable: readonly string[];
  kindLabel(kind: Kind): string;
  sourceLabel(source: string): string;
}

export function useTable({ scope, conversations, kinds, ...rest }: TableInput): UseTable {
  const listed = new Set(kinds.map(printKind));
  // What was muted stays in sight while it can be undone, also where nothing of it was delivered.
  const others = rest.undoable.filter((kind) => !listed.has(kind)).map(unused);
  return { scope, conversations, kinds: [...kinds, ...others].map((use) => rowOf(use, rest)) };
}

function rowOf(
  use: KindUse,
  { settings, undoable, kindLabel, sourceLabel }: Omit<TableInput, 'scope' | 'conversations' | 'kinds'>,
): KindRow {
  const switches = settings['notifications.kinds'][use.source];
  const muted = switches?.[use.name] === false || switches?.['enable'] === false;
  const undo = switches?.[use.name] === false && undoable.includes(printKind(use));
  return {
    ...use,
    label: kindLabel(use),
    sourceLabel: sourceLabel(use.source),
    state: undo ? 'undo' : muted ? 'muted' : 'on',
    offersMute: !muted && use.followed >= ENOUGH && use.used === 0,
  };
}

function unused(kind: string): KindUse {
  const [source = '', ...name] = kind.split('.');
  const none = { delivered: 0, tokens: 0, followed: 0, used: 0, read: 0, edited: 0, ran: 0, answered: 0, refused: 0 };
  return { source, name: name.join('.'), ...none };
}
