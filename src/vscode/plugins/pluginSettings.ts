// Reads the settings of program plugins: options that grant rights count only in user settings.
import { describeIssue } from '../../protocol/describeIssue.ts';
import { type ConfiguredProgram } from '../../plugins/host/consent.ts';
import { pluginNameSchema, programSchema } from '../../protocol/plugin.ts';
import { userSetting, workspaceSetting } from '../configuration.ts';
import { SETTINGS_SECTION } from '../ids.ts';

export interface ReadPrograms {
  readonly programs: ReadonlyMap<string, ConfiguredProgram>;
  /** Entries that cannot be used, by name. */
  readonly problems: ReadonlyMap<string, string>;
}

/** A workspace can add programs, but cannot change those of the user settings. */
export function readPrograms(): ReadPrograms {
  const ofUser = userSetting(`${SETTINGS_SECTION}.plugins.programs`);
  const ofWorkspace = workspaceSetting(`${SETTINGS_SECTION}.plugins.programs`);
  const programs = new Map<string, ConfiguredProgram>();
  const problems = new Map<string, string>();
  const add = (name: string, value: unknown, fromUser: boolean) => {
    const named = pluginNameSchema.safeParse(name);
    const parsed = programSchema.safeParse(value);
    if (!named.success) problems.set(name, describeIssue(named.error));
    else if (!parsed.success) problems.set(name, describeIssue(parsed.error));
    else if (fromUser) programs.set(name, { ...parsed.data, fromUser });
    else programs.set(name, withoutRights({ ...parsed.data, fromUser }));
  };
  for (const [name, value] of Object.entries(ofWorkspace ?? {})) add(name, value, false);
  for (const [name, value] of Object.entries(ofUser ?? {})) {
    problems.delete(name);
    add(name, value, true);
  }
  return { programs, problems };
}

function withoutRights(program: ConfiguredProgram): ConfiguredProgram {
  return { ...program, run: program.run === 'allow' ? 'ask' : program.run, start: 'manual', approve: false };
}
