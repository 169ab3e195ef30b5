// Generates the contributions in package.json (commands, menus, settings, views) and their texts in package.nls.json.
import {
  AGENTS_CONTAINER,
  AGENTS_VIEW,
  CHAT_VIEW,
  HAS_MCP_SERVERS,
  HAS_PLUGINS,
  MCP_VIEW,
  NOTIFICATIONS_CONTAINER,
  NOTIFICATIONS_SERVER,
  NOTIFICATIONS_VIEW,
  ON_HUB,
  PLUGINS_VIEW,
  VIEW_CONTAINER,
} from '../ids.ts';
import { contributedCommands, keybindings, menus } from './commands.ts';
import { contributedSettings, restrictedSettings } from './settings.ts';
import { extractTexts } from './texts.ts';
import { walkthrough } from './walkthrough.ts';

interface Manifest {
  readonly capabilities: { readonly untrustedWorkspaces: object };
}

/** The content of package.json, with the generated parts replaced. */
export function withContributions(text: string): string {
  const manifest = JSON.parse(text) as Manifest;
  const { capabilities } = manifest;
  const generated = {
    ...manifest,
    // Where VS Code finds the translations of `vscode.l10n.t`.
    l10n: './media/l10n',
    capabilities: {
      ...capabilities,
      untrustedWorkspaces: { ...capabilities.untrustedWorkspaces, restrictedConfigurations: restrictedSettings() },
    },
    contributes: extractTexts(contributions()).contributions,
  };
  return printJson(generated);
}

/** The content of package.nls.json: the texts that package.json refers to by key. */
export function contributedTexts(): string {
  return printJson(extractTexts(contributions()).texts);
}

/** The content of package.nls.de.json. `german` has the translations by English text; a missing one stays English. */
export function translatedTexts(german: Readonly<Record<string, string>>): string {
  const { texts } = extractTexts(contributions());
  return printJson(Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, german[text] ?? text])));
}

function printJson(json: object): string {
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

function contributions(): object {
  const icon = 'media/earshot.svg';
  return {
    viewsContainers: {
      secondarySidebar: [{ id: VIEW_CONTAINER, title: 'Earshot', icon }],
      panel: [
        { id: NOTIFICATIONS_CONTAINER, title: 'Earshot Notifications', icon: '$(bell)' },
        { id: AGENTS_CONTAINER, title: 'Earshot Agents', icon: '$(organization)' },
      ],
    },
    views: {
      [VIEW_CONTAINER]: [
        { id: CHAT_VIEW, name: 'Chat', type: 'webview', icon },
        { id: MCP_VIEW, name: 'MCP Servers', icon, when: HAS_MCP_SERVERS, visibility: 'collapsed', size: 1 },
        { id: PLUGINS_VIEW, name: 'Program Plugins', when: HAS_PLUGINS, visibility: 'collapsed', icon },
      ],
      [NOTIFICATIONS_CONTAINER]: [{ id: NOTIFICATIONS_VIEW, name: 'Notifications', icon: '$(bell)' }],
      [AGENTS_CONTAINER]: [{ id: AGENTS_VIEW, name: 'Agents', type: 'webview', icon: '$(organization)', when: ON_HUB }],
    },
    commands: contributedCommands(),
    configuration: contributedSettings(),
    menus,
    keybindings,
    walkthroughs: [walkthrough],
    mcpServerDefinitionProviders: [{ id: NOTIFICATIONS_SERVER, label: 'Earshot Notifications' }],
  };
}
