// Composes CI and pull requests: asks the user once which way may be used, and signs in to GitHub where they choose that.
import * as vscode from 'vscode';
import { type Workspace } from '../../core/ports/workspace.ts';
import { realClock } from '../../node/realClock.ts';
import { createForge, type Forge } from '../../producers/forge/forge.ts';
import { CI_SUBJECT, CiQuestion } from '../ciQuestion.ts';
import { updateSetting } from '../settings.ts';
import { type Window } from './window.ts';

const SCOPES = ['repo'];

export function composeForge(
  { context, logger, settings, waiting, held, report }: Window,
  workspace: Workspace,
  notice: (text: string) => void,
): Forge {
  const question = new CiQuestion({
    ...{ waiting, memory: context.globalState, t: vscode.l10n.t, signIn },
    way: () => settings.current.forge,
    setWay: (way) => updateSetting('forge', way),
    report: report('the user could not be asked about CI'),
  });
  let trouble = new AbortController();
  held.add(
    settings.onDidChange(() => {
      if (settings.current.forge !== 'account') trouble.abort();
      question.wayChanged();
    }),
  );
  held.add(vscode.authentication.onDidChangeSessions(({ provider }) => provider.id === 'github' && trouble.abort()));
  const showTrouble = async (message: string) => {
    const text = vscode.l10n.t('CI and pull requests cannot be followed: {0}', message);
    if (settings.current.forge !== 'account') {
      notice(text);
      return;
    }
    trouble.abort();
    trouble = new AbortController();
    const offer = { subject: CI_SUBJECT, level: 'warning', text, action: vscode.l10n.t('Sign In') } as const;
    if (await waiting.offer(offer, trouble.signal)) await signIn();
  };
  const token = async () => {
    const session = await vscode.authentication.getSession('github', SCOPES, { silent: true });
    return session?.accessToken;
  };
  return createForge({
    ...{ clock: realClock, logger, workspace, env: process.env },
    account: { token },
    way: () => settings.current.forge,
    ask: (host, why) => question.ask(host, why),
    trouble: (message) => void showTrouble(message).catch(report('a message about CI could not be shown')),
    isActive: () => vscode.window.state.focused,
  });
}

async function signIn(): Promise<void> {
  await vscode.authentication.getSession('github', SCOPES, { createIfNone: true });
}
