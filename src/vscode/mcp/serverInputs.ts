// Values of `inputs`: asked for once, and kept in the editor's secret storage.
import * as vscode from 'vscode';
import { Sequence } from '../../base/async.ts';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type ServerInput } from '../../protocol/outside/mcp.ts';

/** Undefined: the user entered none. `kept` gets each value, so that it can be masked in the log. */
export async function inputValue(
  secrets: vscode.SecretStorage,
  server: ConfiguredServer,
  id: string,
  kept: (value: string) => void,
): Promise<string | undefined> {
  const input = server.inputs.find((one) => one.id === id);
  if (input === undefined) return undefined;
  const key = secretName(server, id);
  const stored = input.type === 'command' ? undefined : await secrets.get(key);
  const value = stored ?? (await questions.run(() => ask(server, input)));
  if (value === undefined) return undefined;
  kept(value);
  if (stored === undefined && input.type !== 'command') await secrets.store(key, value);
  return value;
}

export async function forgetInputs(secrets: vscode.SecretStorage, server: ConfiguredServer): Promise<void> {
  for (const { id } of server.inputs) await secrets.delete(secretName(server, id));
}

/** Contains the place of the configuration: another workspace with the same id does not get the value. */
function secretName({ source, name }: ConfiguredServer, id: string): string {
  return `earshot.mcp.input:${source.folder ?? ''}:${source.label}:${name}:${id}`;
}

/** VS Code shows one input box at a time; a second one would cancel the first. */
const questions = new Sequence();

async function ask({ name }: ConfiguredServer, input: ServerInput): Promise<string | undefined> {
  const title = vscode.l10n.t('MCP server {0}: {1}', name, input.id);
  switch (input.type) {
    case 'promptString':
      return vscode.window.showInputBox({
        title,
        prompt: input.description ?? '',
        password: input.password === true,
        ignoreFocusOut: true,
        ...(input.default !== undefined && { value: input.default }),
      });
    case 'pickString': {
      const options = input.options.map((one) => (typeof one === 'string' ? { label: one, value: one } : one));
      const chosen = await vscode.window.showQuickPick(options, {
        title,
        placeHolder: input.description ?? '',
        ignoreFocusOut: true,
      });
      return chosen?.value;
    }
    case 'command': {
      const result: unknown = await vscode.commands.executeCommand(input.command, input.args);
      return typeof result === 'string' ? result : undefined;
    }
  }
}
