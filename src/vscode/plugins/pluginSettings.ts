// Reads the settings of program plugins: options that grant rights count only in user settings.
import { describeIssue } from '../../protocol/describeIssue.ts';
import { pluginNameSchema, type Program, programSchema } from '../../protocol/plugin.ts';
import { userSetting, workspaceSetting } from '../configuration.ts';
import { SETTINGS_SECTION } from '../ids.ts';

export interface ReadPrograms {
  readonly programs: ReadonlyMap<string, Program>;
  /** Entries that cannot be used, by name. */
  readonly problems: ReadonlyMap<string, string>;
}

/** A workspace can add programs, but cannot change those of the user settings. */
export function readPrograms(): ReadPrograms {
  const ofUser = userSetting(`${SETTINGS_SECTION}.plugins.programs`);
  const ofWorkspace = workspaceSetting(`${SETTINGS_SECTION}.plugins.programs`);
  const programs = new Map<string, Program>();
  const problems = new Map<string, string>();
  const add = (name: string, value: unknown, fromUser: boolean) => {
    const named = pluginNameSchema.safeParse(name);
    const parsed = programSchema.safeParse(value);
    if (!named.success) problems.set(name, describeIssue(named.error));
    else if (!parsed.success) problems.set(name, describeIssue(parsed.error));
    else programs.set(name, fromUser ? parsed.data : withoutRights(parsed.data));
  };
  for (const [name, value] of Object.entries(ofWorkspace ?? {})) add(name, value, false);
  for (const [name, value] of Object.entries(ofUser ?? {})) {
    problems.delete(name);
    add(name, value, true);
  }
  return { programs, problems };
}

function withoutRights(program: Program): Program {
  return { ...program, run: program.run === 'allow' ? 'ask' : program.run, start: 'manual', approve: false };
}
