// Composes the pickers of the composer, and the commands in menus and the lightbulb that use the chat or the model.
import * as vscode from 'vscode';
import { type Failure, type Result } from '../../base/errors.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type AttachedResource, type PageComposer } from '../../core/frontend/page/pageComposer.ts';
import { type PageHost } from '../../core/frontend/page/pageHost.ts';
import { type Model } from '../../core/ports/ports.ts';
import { type UserFiles } from '../../core/ports/userFiles.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type ServerResources } from '../../mcp/resources/serverResources.ts';
import { realClock } from '../../node/realClock.ts';
import { type CompletionsHandlers } from '../chat/pageHandlers.ts';
import { type CommandHandlers } from '../commands.ts';
import { builtInSource, commandSource, promptSource, skillSource } from '../completions/commandSources.ts';
import { writeCommitMessage } from '../completions/commitMessage.ts';
import { type AttachedText, Completions } from '../completions/completions.ts';
import { editorCommands } from '../completions/editorCommands.ts';
import { attachUri, mentionSources } from '../completions/mentionSources.ts';
import { CHAT_VIEW, COMMANDS } from '../ids.ts';
import { type AskedValue, serverSources } from '../mcp/serverCompletions.ts';
import { type Window } from './window.ts';
import { failureMessage } from '../failureMessage.ts';

export interface CompletionParts {
  readonly page: PageHost;
  readonly composer: PageComposer;
  readonly frontend: ChatFrontend;
  readonly workspace: Workspace;
  readonly userFiles: UserFiles;
  model(): Model;
  /** Undefined: no MCP server is configured. */
  resources(): ServerResources | undefined;
}

export function composeCompletions({ held, report }: Window, parts: CompletionParts) {
  const { page, composer, frontend, workspace } = parts;
  const completions = new Completions(report('suggestions could not be listed'));
  const notice = (text: string) => page.notice('info', text);
  const orNotice = async (attached: Promise<Result<void>>) => {
    const done = await attached;
    if (!done.ok) notice(failureMessage(done.failure));
  };
  const attachFile = (path: string) => orNotice(composer.attachFile(path));
  const attachText = ({ name, text }: AttachedText) => orNotice(composer.attachText(name, text));
  const attachResource = (resource: AttachedResource) => orNotice(composer.attachResource(resource));
  const deps = { clock: realClock, attachFile, attachText, notice };
  const ofServers = {
    resources: () => parts.resources(),
    attachResource,
    insert: (text: string) => composer.insert(text),
    showFailure: (failure: Failure) => notice(failureMessage(failure)),
    ask: askForValue,
  };
  const { userFiles } = parts;
  const ofFiles = [builtInSource(), promptSource(workspace, userFiles), skillSource(workspace, userFiles)];
  const sources = [...mentionSources(deps), commandSource(), ...ofFiles, ...serverSources(ofServers)];
  for (const source of sources) held.add(completions.register(source));
  const handlers: CompletionsHandlers = {
    complete: async ({ trigger, query }) => frontend.reply(await completions.list(trigger, query)),
    choose_completion: ({ source, id }) => completions.choose(source, id),
    attach_uris: async ({ uris }) => {
      for (const uri of uris) await attachUri(vscode.Uri.parse(uri), deps);
    },
  };
  const reveal = async () => vscode.commands.executeCommand<void>(`${CHAT_VIEW}.focus`);
  const send = (text: string) => page.send(text);
  const commands = {
    ...editorCommands({ reveal, attach: (uri) => attachUri(uri, deps), attachText, send }),
    [COMMANDS.commitMessage]: () => writeCommitMessage(parts.model()),
  } satisfies Partial<CommandHandlers>;
  return { completions, handlers, commands };
}

/** Asks for a value in a prompt or a resource address of an MCP server. Undefined: the user cancelled. */
async function askForValue({ title, name, about, required }: AskedValue): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title,
    prompt: about === '' ? name : `${name}: ${about}`,
    placeHolder: required ? '' : vscode.l10n.t('Optional: press Enter to leave it out'),
    ignoreFocusOut: true,
    validateInput: (value) => (required && value.trim() === '' ? vscode.l10n.t('{0} is required.', name) : undefined),
  });
}
