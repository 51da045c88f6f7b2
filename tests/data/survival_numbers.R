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

number <- function(x) if (is.finite(x)) format(as.numeric(x), digits = 15) else "NaN"
json <- function(x) {
  if (is.list(x)) paste0("{", paste0('"', names(x), '": ', sapply(x, json), collapse = ", "), "}")
  else if (is.character(x)) paste0('"', x, '"')
  else if (length(x) == 1 && is.null(dim(x))) number(x)
  else paste0("[", paste(sapply(as.numeric(x), number), collapse = ", "), "]")
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

# Lin and Wei's covariance, of samples and of clusters of samples.
for (ties in c("efron", "breslow")) {
  for (name in c("plain", "entry", "all")) {
    asked <- list(plain = Surv(time, event) ~ x1 + x2, entry = Surv(entry, time, event) ~ x1 + x2,
                  all = Surv(entry, time, event) ~ x1 + x2 + strata(stratum) + offset(off))[[name]]
    numbers[[paste("robust", name, ties)]] <- list(
      samples = vcov(coxph(asked, ties = ties, robust = TRUE, id = i)),
      clusters = vcov(coxph(asked, ties = ties, cluster = i %/% 4))
    )
  }
}

# Score tests of x1 given x2: no step from where x2 has its estimate and x1 is 0.
for (ties in c("efron", "breslow")) {
  given <- coxph(Surv(entry, time, event) ~ x2 + strata(stratum) + offset(off), ties = ties)
  added <- coxph(Surv(entry, time, event) ~ x1 + x2 + strata(stratum) + offset(off), ties = ties,
                 init = c(0, coef(given)), control = coxph.control(iter.max = 0))
  numbers[[paste("score", ties)]] <- added$score
}
# Without ties the score test of one column is the log-rank test.
distinct <- time + i / 100
numbers$log_rank <- list(
  two = survdiff(Surv(distinct, event) ~ x2)$chisq, three = survdiff(Surv(time, event) ~ cell)$chisq,
  strata = survdiff(Surv(distinct, event) ~ x2 + strata(stratum))$chisq
)
for (ties in c("efron", "breslow")) {
  models <- list(
    plain = coxph(Surv(time, event) ~ x1 + x2, ties = ties),
    entry = coxph(Surv(entry, time, event) ~ x1 + x2, ties = ties),
    all = coxph(Surv(entry, time, event) ~ x1 + x2 + strata(stratum) + offset(off), ties = ties)
  )
  for (name in names(models)) numbers[[paste("zph", name, ties)]] <- cox.zph(models[[name]], transform = "km")$table
}
# x1 has ties; higher values mean a higher risk.
harrell <- function(found) list(
  value = found$concordance, standard_error = sqrt(found$var), concordant = sum(rbind(found$count)[, 1]),
  discordant = sum(rbind(found$count)[, 2]), tied = sum(rbind(found$count)[, 3])
)
numbers$concordance <- list(
  plain = harrell(concordance(Surv(time, event) ~ x1, reverse = TRUE)),
  entry = harrell(concordance(Surv(entry, time, event) ~ x1, reverse = TRUE)),
  strata = harrell(concordance(Surv(entry, time, event) ~ x1 + strata(stratum), reverse = TRUE))
)
curve <- function(fit) { seen <- summary(fit); list(time = seen$time, survival = seen$surv, low = seen$lower, high = seen$upper) }
numbers$kaplan_meier <- list(
  plain = curve(survfit(Surv(time, event) ~ 1, conf.type = "log-log")),
  entry = curve(survfit(Surv(entry, time, event) ~ 1, conf.type = "log-log"))
)
wald <- summary(coxph(Surv(time, event) ~ x1 + x2))
numbers$hazard_ratios <- list(
  ratio = wald$conf.int[, 1], low = wald$conf.int[, 3], high = wald$conf.int[, 4], p_value = wald$coefficients[, 5]
)
cat(json(numbers), "\n")
