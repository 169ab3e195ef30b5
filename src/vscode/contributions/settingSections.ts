// The sections of the Settings editor, and which settings are in each.
import { type SettingName } from '../../protocol/settings.ts';

type FirstPart<Name> = Name extends `${infer First}.${string}` ? First : Name;

export const SECTIONS = [
  'Model',
  'Chat',
  'Approvals and Limits',
  'Notifications',
  'Commands and Hooks',
  'MCP Servers',
  'Program Plugins and Web Chat',
  'Agents and Hub',
] as const;

/** The section of each setting by the first part of its name. A setting without a section does not compile. */
const SECTION_OF: Readonly<Record<FirstPart<SettingName>, (typeof SECTIONS)[number]>> = {
  model: 'Model',
  baseUrl: 'Model',
  providers: 'Model',
  models: 'Model',
  currency: 'Model',
  idleTimeout: 'Model',
  sendKey: 'Chat',
  attention: 'Chat',
  mode: 'Chat',
  editorContext: 'Chat',
  approvals: 'Approvals and Limits',
  limits: 'Approvals and Limits',
  notifications: 'Notifications',
  tools: 'Notifications',
  forge: 'Notifications',
  handles: 'Commands and Hooks',
  hooks: 'Commands and Hooks',
  scripts: 'Commands and Hooks',
  debug: 'Commands and Hooks',
  tests: 'Commands and Hooks',
  mcp: 'MCP Servers',
  plugins: 'Program Plugins and Web Chat',
  webChat: 'Program Plugins and Web Chat',
  agents: 'Agents and Hub',
  hub: 'Agents and Hub',
};

export function sectionOf(name: SettingName): (typeof SECTIONS)[number] {
  return SECTION_OF[name.split('.', 1)[0] as FirstPart<SettingName>];
}
