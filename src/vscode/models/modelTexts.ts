// Describes models in lists: window, price and what they can do.
import * as vscode from 'vscode';
import { type ModelFacts } from '../../models/facts/factsFile.ts';

/** Empty: nothing is known. */
export function describeFacts({ window, price, images, efforts }: ModelFacts): string {
  const parts = [
    window === undefined ? '' : vscode.l10n.t('{0} tokens', briefCount(window)),
    price === undefined ? '' : vscode.l10n.t('${0} in, ${1} out', amount(price[0]), amount(price[1])),
    images === true ? vscode.l10n.t('images') : '',
    efforts === undefined ? '' : vscode.l10n.t('reasoning'),
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

function briefCount(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(2)).toLocaleString()}M`;
  return tokens >= 10_000 ? `${Math.round(tokens / 1000).toLocaleString()}k` : tokens.toLocaleString();
}

function amount(dollars: number): string {
  return dollars.toLocaleString(undefined, { maximumSignificantDigits: 3 });
}

export function markCurrent<T extends vscode.QuickPickItem>(item: T): T {
  const current = vscode.l10n.t('current model');
  const { description = '' } = item;
  return {
    ...item,
    iconPath: new vscode.ThemeIcon('check'),
    description: description === '' ? current : `${current} · ${description}`,
  };
}
