# Numbers of R's package survival that tests compare with: Rscript survival_numbers.R > survival_numbers.json
# `tests/r_survival.py` makes the same table and reads the numbers.
suppressMessages(library(survival))
i <- 0:79
entry <- (i * 13) %% 7
time <- entry + 1 + (i * 29 + i^2) %% 17
event <- as.integer((i * 11) %% 5 < 3)
x1 <- ((i * 17) %% 31) / 10
x2 <- as.numeric((i * 5) %% 3 == 0)
stratum <- (i %/% 3) %% 3
off <- ((i * 7) %% 11) / 20
cell <- (i * 5) %% 3

json <- function(x) {
  if (is.list(x)) paste0("{", paste0('"', names(x), '": ', sapply(x, json), collapse = ", "), "}")
  else if (is.character(x)) paste0('"', x, '"')
  else if (length(x) == 1 && is.null(dim(x))) format(as.numeric(x), digits = 15)
  else paste0("[", paste(sapply(as.numeric(x), format, digits = 15), collapse = ", "), "]")
}
numbers <- list(version = as.character(packageVersion("survival")))
for (ties in c("efron", "breslow")) {
  models <- list(
    plain = coxph(Surv(time, event) ~ x1 + x2, ties = ties),
    entry = coxph(Surv(entry, time, event) ~ x1 + x2, ties = ties),
    all = coxph(Surv(entry, time, event) ~ x1 + x2 + strata(stratum) + offset(off), ties = ties)
  )
  for (name in names(models)) {
    fit <- models[[name]]
    numbers[[paste(name, ties)]] <- list(
      coefficients = coef(fit), covariance = vcov(fit), log_likelihood = fit$loglik[2],
      log_likelihood_null = fit$loglik[1], score = fit$score, martingale = residuals(fit, "martingale")
    )
  }
}
numbers$null <- list(
  martingale = residuals(coxph(Surv(time, event) ~ 1)),
  martingale_entry = residuals(coxph(Surv(entry, time, event) ~ 1))
)
cat(json(numbers), "\n")
