// The clean-up hooks of the support modules. They are kept here and registered by setup.ts for each test file, because
// quick tests share loaded modules: a hook that such a module registered itself would run in the first file only.

type Hook = () => unknown;

export const afterEachTest: Hook[] = [];
export const afterEachFile: Hook[] = [];
