// Who may set each setting: how a value of the workspace, which anybody may have written, combines with the user's.
import { describeIssue } from './describeIssue.ts';
import { readSettings, type SettingName, type SettingProblem, type Settings, settingSchemas } from './settings.ts';

interface Rule<T> {
  /**
   * `user`: the workspace's value is ignored. `approved`: the part that reads it asks the user before anything runs.
   * `lower`: it counts where it allows less than the user's. `configured`: it counts if the user has configured the
   * same. `anyone`: it replaces the user's.
   */
  readonly by: 'user' | 'approved' | 'lower' | 'configured' | 'anyone';
  /** The value that holds. */
  combine(user: T, workspace: T, all: Settings): T;
}

type Switches = Readonly<Record<string, boolean>>;

const user = { by: 'user', combine: <T>(own: T) => own } as const;
/** The reader keeps the user's value; `approved` values of the workspace are read where they are approved. */
const approved = { by: 'approved', combine: <T>(own: T) => own } as const;
const anyone = { by: 'anyone', combine: <T>(_own: T, workspace: T) => workspace } as const;
const lower = <T>(combine: Rule<T>['combine']): Rule<T> => ({ by: 'lower', combine });
const least = lower<number>((own, workspace) => Math.min(own, workspace));
/** 0 is no limit. */
const limit = lower<number>((own, workspace) => (own > 0 && (workspace === 0 || workspace > own) ? own : workspace));
const off = lower<boolean>((own, workspace) => own && workspace);
/** The earlier one of values that are ordered from the least to the most. */
const earlier = <T extends string>(...order: readonly T[]) =>
  lower<T>((own, workspace) => (order.indexOf(workspace) < order.indexOf(own) ? workspace : own));
const switchesOff = (own: Switches = {}, workspace: Switches = {}): Record<string, boolean> => ({
  ...own,
  ...Object.fromEntries(Object.entries(workspace).filter(([name, on]) => !on || own[name] !== false)),
});

/** A setting without a rule does not compile. `docs/settings-safety.md` is made from this table. */
export const SETTING_RULES: { readonly [N in SettingName]: Rule<Settings[N]> } = {
  model: {
    by: 'configured',
    combine: (own, workspace, { models }) => (workspace === '' || Object.hasOwn(models, workspace) ? workspace : own),
  },
  baseUrl: user,
  providers: user,
  models: user,
  mode: earlier('plan', 'agent'),
  currency: user,
  'attention.toast': anyone,
  'attention.sound': anyone,
  'attention.systemNotice': user,
  sendKey: anyone,
  'agents.depth': least,
  'limits.tokens': limit,
  'limits.cost': limit,
  idleTimeout: user,
  'approvals.mode': user,
  'approvals.commands': user,
  'approvals.outsideText': user,
  'mcp.servers': approved,
  'mcp.inputs': approved,
  'mcp.trustedReadOnly': user,
  'mcp.events': user,
  'mcp.timeout': anyone,
  'handles.afterTurn': earlier('stop', 'wait', 'keep'),
  'handles.ownerTimeout': least,
  'notifications.enable': off,
  'notifications.kinds': lower((own, workspace) => ({
    ...own,
    ...Object.fromEntries(Object.entries(workspace).map(([source, on]) => [source, switchesOff(own[source], on)])),
  })),
  'notifications.producers': lower<Record<string, boolean>>(switchesOff),
  // Only the level critical has an effect besides the order: it interrupts or wakes the model.
  'notifications.levels': lower((own, workspace) => ({
    ...own,
    ...Object.fromEntries(Object.entries(workspace).filter(([, level]) => level !== 'critical')),
  })),
  'notifications.tasks': earlier('own', 'all'),
  'notifications.ignoredPaths': lower((own, workspace) => [...new Set([...own, ...workspace])]),
  'notifications.activation': earlier('passive', 'wake', 'interrupt'),
  'notifications.format': anyone,
  'notifications.cap': least,
  'notifications.tokenBudget': least,
  tools: lower((own, workspace) => ({
    ...own,
    ...Object.fromEntries(
      Object.entries(workspace).map(([tool, { notifications }]) => [
        tool,
        { notifications: switchesOff(own[tool]?.notifications, notifications) },
      ]),
    ),
  })),
  hooks: approved,
  'hub.enabled': off,
  'hub.role': anyone,
  'hub.port': user,
  'hub.identity': user,
  'hub.allowedOrigins': user,
  'hub.server': user,
  'hub.name': user,
  'hub.machine': user,
  'hub.credentials': user,
  'plugins.programs': approved,
  'plugins.respondTimeout': user,
  'plugins.respondFallback': user,
  'webChat.allowedHosts': user,
  'scripts.wake': user,
  'scripts.post': user,
  // A workspace can switch it off, and nothing else.
  forge: lower((own, workspace) => (workspace === 'off' ? workspace : own)),
  'debug.locals': user,
  'tests.reports': anyone,
  editorContext: earlier('off', 'file', 'selection'),
};

/** Absent: no limit. */
export type SettingLimits = Partial<Pick<Settings, 'mode'>>;

/** The values of one setting by their origin; undefined: not set there. */
export interface SettingValues {
  readonly user: unknown;
  readonly workspace: unknown;
}

export interface ScopedSettings {
  readonly settings: Settings;
  readonly problems: readonly SettingProblem[];
  /** What the workspace allows at most; a conversation cannot choose more. */
  readonly limits: SettingLimits;
  /** Names of settings whose value in the workspace does not hold, or not completely. */
  readonly ignored: readonly string[];
}

/** Reads each setting from both origins. An invalid value is reported and counts as not set. */
export function readScopedSettings(get: (name: SettingName) => SettingValues): ScopedSettings {
  const { settings, problems } = readSettings((name) => get(name).user);
  const combined: Record<string, unknown> = { ...settings };
  const ignored: string[] = [];
  let limits: SettingLimits = {};
  for (const name of Object.keys(settingSchemas) as SettingName[]) {
    const given = get(name).workspace ?? undefined;
    if (given === undefined) continue;
    const parsed = settingSchemas[name].safeParse(given);
    if (!parsed.success) {
      problems.push({ name: `earshot.${name}`, message: describeIssue(parsed.error) });
      continue;
    }
    const { by, combine } = SETTING_RULES[name] as Rule<unknown>;
    combined[name] = combine(settings[name], parsed.data, settings);
    if (name === 'mode' && parsed.data === 'plan') limits = { mode: parsed.data };
    if (by !== 'approved' && !contains(combined[name], parsed.data)) ignored.push(`earshot.${name}`);
  }
  return { settings: combined as unknown as Settings, problems, limits, ignored };
}

/** Whether everything in `part` is also in `whole`. */
export function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null || typeof whole !== 'object' || whole === null) return whole === part;
  if (Array.isArray(part)) return part.every((one) => (whole as unknown[]).some((other) => contains(other, one)));
  return Object.entries(part).every(([key, value]) => contains((whole as Record<string, unknown>)[key], value));
}
