// The clean-up hooks of the support modules. setup.ts registers them for each test file. Quick tests share loaded
// modules, so a hook that a support module registered itself would run only in the first file.

type Hook = () => unknown;

export const afterEachTest: Hook[] = [];
export const afterEachFile: Hook[] = [];
