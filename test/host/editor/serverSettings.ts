// The default VS Code settings of a run: few prompts, offline, without VS Code's own AI features.

export type Settings = Readonly<Record<string, unknown>>;

export const defaultSettings: Settings = {
  'workbench.colorTheme': 'Default Dark Modern',
  // As on a desktop: no auto save.
  'files.autoSave': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.autofetch': false,
  'git.openRepositoryInParentFolders': 'never',
  'json.schemaDownload.enable': false,
  'npm.fetchOnlinePackageInfo': false,
  'typescript.disableAutomaticTypeAcquisition': true,
};

/** A null value restores the default of VS Code. */
export function mergeSettings(...layers: readonly Settings[]): Record<string, unknown> {
  const merged = Object.assign({}, ...layers) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
