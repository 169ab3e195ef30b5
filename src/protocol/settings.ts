// The settings, their defaults and their reading: package.json's `contributes.configuration` says the same, held by a test.
import * as z from 'zod';
import { FORMATS } from './event.ts';
import { levelSchema } from './notification.ts';

const switchesSchema = z.record(z.string(), z.boolean());

/** Every setting by its name under `earshot.`, with the default that package.json states too. */
export const settingSchemas = {
  model: z.string().default(''),
  baseUrl: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  'notifications.enable': z.boolean().default(true),
  'notifications.kinds': z.record(z.string(), switchesSchema).default({}),
  'notifications.levels': z.record(z.string(), levelSchema).default({}),
  'notifications.format': z.enum(['auto', ...FORMATS]).default('auto'),
  'notifications.cap': z.int().min(1).max(100).default(10),
  'notifications.tokenBudget': z.int().min(100).max(100_000).default(1500),
} as const;

export type SettingName = keyof typeof settingSchemas;
export type Settings = { readonly [N in SettingName]: z.infer<(typeof settingSchemas)[N]> };

export interface SettingProblem {
  readonly name: string;
  readonly message: string;
}

/** Reads each setting on its own: a bad value is told, replaced by its default, and spoils no other. */
export function readSettings(get: (name: SettingName) => unknown): { settings: Settings; problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  const entries = Object.entries(settingSchemas).map(([name, schema]) => {
    const parsed = schema.safeParse(get(name as SettingName) ?? undefined);
    if (parsed.success) return [name, parsed.data];
    problems.push({ name: `earshot.${name}`, message: parsed.error.issues[0]?.message ?? 'not valid' });
    return [name, schema.parse(undefined)];
  });
  return { settings: Object.fromEntries(entries) as Settings, problems };
}
