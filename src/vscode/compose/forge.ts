// Composes CI and pull requests: asks the user once which way may be used, and signs in to GitHub where they choose that.
import * as vscode from 'vscode';
import { type Workspace } from '../../core/ports/workspace.ts';
import { realClock } from '../../node/realClock.ts';
import { createForge, type Forge } from '../../producers/forge/forge.ts';
import { type ForgeWay } from '../../protocol/settings.ts';
import { updateSetting } from '../settings.ts';
import { type Window } from './window.ts';

/** In the global state: the user has seen the question. */
const ASKED = 'earshot.forge.asked';
const SCOPES = ['repo'];

export function composeForge({ context, logger, settings, report }: Window, workspace: Workspace): Forge {
  let isAsking = false;
  const ask = async (host: string) => {
    isAsking = true;
    await context.globalState.update(ASKED, true);
    try {
      const chosen = await askForWay(host);
      if (chosen === undefined) return;
      await updateSetting('forge', chosen);
      if (chosen === 'account') await signIn();
    } finally {
      isAsking = false;
    }
  };
  const token = async () => {
    const session = await vscode.authentication.getSession('github', SCOPES, { silent: true });
    return session?.accessToken;
  };
  return createForge({
    ...{ clock: realClock, logger, workspace, env: process.env },
    account: { token },
    way: () => settings.current.forge,
    ask: (host, why) => {
      // Only a condition, which the user has just approved, asks again.
      if (isAsking || (why === 'push' && context.globalState.get(ASKED) === true)) return;
      void ask(host).catch(report('the user could not be asked about CI'));
    },
    trouble: (message) => {
      void showTrouble(message, settings.current.forge).catch(report('a message about CI could not be shown'));
    },
    isActive: () => vscode.window.state.focused,
  });
}

async function askForWay(host: string): Promise<ForgeWay | undefined> {
  const program = host.includes('gitlab') ? 'glab' : 'gh';
  const byProgram = vscode.l10n.t('Use {0}', program);
  const byAccount = vscode.l10n.t('Use GitHub Account');
  const never = vscode.l10n.t('Never');
  const question = vscode.l10n.t(
    'Earshot can notify the agent of CI results and reviews of the commits that it pushes. It asks {0} in your name, only for these commits, and changes nothing there. Logs and comments go to the model.',
    host,
  );
  const ways = [byProgram, ...(host === 'github.com' ? [byAccount] : []), never];
  const chosen = await vscode.window.showInformationMessage(question, ...ways);
  if (chosen === byProgram) return 'gh';
  if (chosen === byAccount) return 'account';
  return chosen === never ? 'off' : undefined;
}

async function showTrouble(message: string, way: ForgeWay): Promise<void> {
  const choose = vscode.l10n.t('Sign In');
  const ways = way === 'account' ? [choose] : [];
  const text = vscode.l10n.t('CI and pull requests cannot be followed: {0}', message);
  if ((await vscode.window.showWarningMessage(text, ...ways)) === choose) await signIn();
}

async function signIn(): Promise<void> {
  await vscode.authentication.getSession('github', SCOPES, { createIfNone: true });
}
