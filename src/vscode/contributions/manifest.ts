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
  OVERVIEW_VIEW,
  PLUGINS_VIEW,
  VIEW_CONTAINER,
  COMMANDS,
} from '../ids.ts';
import { contributedCommands, keybindings, menus } from './commands.ts';
import { contributedSettings, restrictedSettings } from './settings.ts';

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
      [NOTIFICATIONS_CONTAINER]: [
        { id: NOTIFICATIONS_VIEW, name: 'Notifications', icon: '$(bell)' },
        { id: OVERVIEW_VIEW, name: 'Overview', type: 'webview', icon: '$(graph)', visibility: 'collapsed', size: 2 },
      ],
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

/** Properties of contributions whose strings are texts. */
const TEXTS = new Set(['title', 'name', 'description', 'markdownDescription', 'altText', 'enumDescriptions']);
const BRAND = 'Earshot';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The contributions with `%key%` in the place of each text, and the texts by key. */
function extractTexts(contributions: object): {
  readonly contributions: object;
  readonly texts: Readonly<Record<string, string>>;
} {
  const texts: Record<string, string> = {};
  const visit = (value: Json, path: readonly string[], name: string): Json => {
    if (typeof value === 'string') {
      if (!TEXTS.has(name) || value === BRAND) return value;
      const key = path.join('.').replace(/[^\w.-]/g, '_');
      if (texts[key] !== undefined) throw new Error(`two texts have the key ${key}`);
      texts[key] = value;
      return `%${key}%`;
    }
    if (Array.isArray(value)) {
      return value.map((one: Json, index) => visit(one, [...path, identify(one) ?? String(index)], name));
    }
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, key === 'default' ? one : visit(one, [...path, key], key)]),
    );
  };
  const replaced = visit(JSON.parse(JSON.stringify(contributions)) as Json, [], '');
  return { contributions: replaced as object, texts };
}

function identify(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { id, command, title } = value as { readonly [key: string]: Json };
  return [id, command, title].find((one) => typeof one === 'string');
}

const media = { svg: 'media/walkthrough.svg', altText: 'A chat that is notified of a changed file' };
const run = (title: string, command: string) => `[${title}](command:${command})`;

/** The walkthrough for new users: four steps, each with a button that performs it. */
const walkthrough = {
  id: 'start',
  title: 'Get Started with Earshot',
  description: 'A coding agent that is notified of what happens while it works.',
  steps: [
    {
      id: 'open',
      title: 'Open the chat',
      description: `The chat is in the secondary side bar, so that the Explorer stays beside it. You can drag it anywhere.\n${run('Open Chat', COMMANDS.openChat)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.openChat}`, 'onView:earshot.chat'],
    },
    {
      id: 'tour',
      title: 'See a notification arrive',
      description: `The built-in Guide works offline and needs no key. It reads a file; you change it; the Guide is notified and says so.\n${run('Take the Tour', COMMANDS.tour)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.tour}`],
    },
    {
      id: 'model',
      title: 'Choose a model',
      description: `Any OpenAI-compatible endpoint, a model on this machine, or a model of VS Code.\n${run('Choose Model', COMMANDS.chooseModel)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.chooseModel}`, 'onSettingChanged:earshot.model'],
    },
    {
      id: 'notifications',
      title: 'Decide what the model is notified of',
      description: `Every notification is listed with its text and its tokens. Dismiss it, mute its kind, or deliver it now.\n${run('Show Notifications', COMMANDS.showNotifications)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.showNotifications}`],
    },
  ],
};
