// Rates of taxes and contributions by country, for merchants whose statutory settings do not say their own. Believable, not law.

export interface TaxRate {
  scheme: "income_tax" | "pension" | "social_security" | "health_insurance" | "housing_fund";
  employeeRateBps: number;
  employerRateBps: number;
}

const rate = (scheme: TaxRate["scheme"], employeeRateBps: number, employerRateBps: number): TaxRate => ({
  scheme,
  employeeRateBps,
  employerRateBps,
});

const RATES: Readonly<Record<string, readonly TaxRate[]>> = {
  CH: [rate("social_security", 640, 640), rate("pension", 700, 700)],
  JP: [rate("income_tax", 500, 0), rate("pension", 915, 915), rate("health_insurance", 500, 500)],
  KE: [rate("income_tax", 1_500, 0), rate("pension", 600, 600), rate("health_insurance", 275, 0), rate("housing_fund", 150, 150)],
  PT: [rate("income_tax", 1_400, 0), rate("social_security", 1_100, 2_375)],
};

const USUAL_RATES: readonly TaxRate[] = [rate("income_tax", 1_400, 0)];

export const taxRatesOf = (country: unknown): readonly TaxRate[] => RATES[String(country)] ?? USUAL_RATES;
