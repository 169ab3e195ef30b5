// All deliberate faults that the tests must detect.
import { coreMutants } from './coreMutants.ts';
import { fileMutants } from './fileMutants.ts';
import { hubMutants } from './hubMutants.ts';
import { type Mutant } from './mutate.ts';
import { networkMutants } from './networkMutants.ts';
import { outerMutants } from './outerMutants.ts';
import { pluginMutants } from './pluginMutants.ts';
import { requestMutants } from './requestMutants.ts';
import { settingMutants } from './settingMutants.ts';

export const mutants: readonly Mutant[] = [
  ...coreMutants,
  ...outerMutants,
  ...pluginMutants,
  ...hubMutants,
  ...networkMutants,
  ...fileMutants,
  ...requestMutants,
  ...settingMutants,
];
