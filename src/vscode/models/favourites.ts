// The models that the user marked as favourites, by their references, in all windows.
import type * as vscode from 'vscode';

const KEY = 'earshot.favouriteModels';

export function favouritesIn(stored: Pick<vscode.Memento, 'get'>): readonly string[] {
  const value = stored.get<unknown>(KEY);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export async function toggleFavourite(stored: vscode.Memento, reference: string): Promise<void> {
  const before = favouritesIn(stored);
  const others = before.filter((one) => one !== reference);
  await stored.update(KEY, others.length < before.length ? others : [...before, reference]);
}
