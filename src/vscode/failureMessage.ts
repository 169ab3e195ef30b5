// Describes failures in messages of the window.
import * as vscode from 'vscode';
import { type Failure } from '../base/errors.ts';
import { failureForPeople } from '../base/people/failureForPeople.ts';

export function failureMessage(failure: Failure): string {
  return failureForPeople(failure, (text, ...values) =>
    vscode.l10n.t(text).replace(/\{(\d)\}/g, (whole, index: string) => values[Number(index)] ?? whole),
  );
}
