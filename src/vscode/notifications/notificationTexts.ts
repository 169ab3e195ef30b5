// UI texts about notifications, in the user's language.
import * as vscode from 'vscode';
import { type ListedNotification, type ListedState } from '../../core/frontend/notificationList.ts';
import { kindLabel, SOURCE_LABELS } from '../../protocol/kindLabels.ts';
import { type Kind, type Level } from '../../protocol/notification.ts';

export function describeKind(kind: Kind): string {
  return vscode.l10n.t(kindLabel(kind));
}

export function describeSource(source: string): string {
  const known = SOURCE_LABELS[source];
  return known === undefined ? source : vscode.l10n.t(known);
}

const STATES: Readonly<Record<ListedState, string>> = {
  pending: 'Pending',
  delivered: 'Delivered',
  filtered: 'Filtered',
  withdrawn: 'Withdrawn',
  dismissed: 'Dismissed',
};

export function describeState(state: ListedState): string {
  return vscode.l10n.t(STATES[state]);
}

const LEVELS: Readonly<Record<Level, string>> = {
  info: 'Information',
  warning: 'Warning',
  error: 'Error',
  critical: 'Critical',
};

export function describeLevel(level: Level): string {
  return vscode.l10n.t(LEVELS[level]);
}

const RECEIPTS: Readonly<Record<ListedNotification['receipt'], string>> = {
  queued: 'queued',
  carried: 'in the log',
  accepted: 'received by the model',
};

const DETAILS: Readonly<Record<string, string>> = {
  merged: 'as part of a newer one',
  counted: 'as a count',
};

export function titleOf({ source, name, subject }: Pick<ListedNotification, 'source' | 'name' | 'subject'>): string {
  const label = describeKind({ source, name });
  return subject === '' ? label : `${label} · ${subject}`;
}

/** Level, age, receipt and tokens in one line. */
export function describeListed(one: ListedNotification, now: number): string {
  const detail = one.detail === undefined ? undefined : DETAILS[one.detail];
  return [
    describeLevel(one.level),
    describeSource(one.source),
    describeAge(now - Date.parse(one.at)),
    ...(one.state === 'delivered' ? [vscode.l10n.t(RECEIPTS[one.receipt])] : []),
    ...(detail === undefined ? [] : [vscode.l10n.t(detail)]),
    ...(one.tokens > 0 ? [vscode.l10n.t('≈ {0} tokens', one.tokens)] : []),
  ].join(' · ');
}

export function describeAge(milliseconds: number): string {
  const minutes = Math.max(0, Math.round(milliseconds / 60_000));
  if (minutes < 1) return vscode.l10n.t('just now');
  if (minutes < 60) return vscode.l10n.t('{0} min ago', minutes);
  const hours = Math.round(minutes / 60);
  return hours < 48 ? vscode.l10n.t('{0} h ago', hours) : vscode.l10n.t('{0} days ago', Math.round(hours / 24));
}
